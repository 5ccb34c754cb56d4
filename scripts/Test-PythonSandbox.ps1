# Runs functions through the real sandbox in a WSL distribution and checks what they can do: value, user, secrets, root
# file system, network, limits. Exit code 1 if any check fails. Twin for Linux: test-python-sandbox.sh
param(
    [Parameter(Mandatory = $true)]
    [ValidatePattern('^\w[\w.+-]*$')]
    [string]$Distribution
)
$ErrorActionPreference = 'Stop'
$before = $env:KB_PYTHON_WSL_DISTRIBUTION
Push-Location (Join-Path $PSScriptRoot '..')
try {
    $env:KB_PYTHON_WSL_DISTRIBUTION = $Distribution
    & node tools/run.mjs test-sandbox
    $code = $LASTEXITCODE
} finally {
    # The console stays open: a server started in it later takes its own settings.
    $env:KB_PYTHON_WSL_DISTRIBUTION = $before
    Pop-Location
}
exit $code
