# Makes a WSL distribution ready for Python functions: Docker Engine from Docker's official repository, without Docker
# Desktop, the image of plain Python, the seccomp profiles. Safe to repeat. Before it, once, as administrator:
#   wsl --install --no-distribution     (restart Windows if it asks for it)
#   wsl --install -d Ubuntu --no-launch
# Twin for Linux: setup-python-sandbox.sh
param(
    [Parameter(Mandatory = $true)]
    [ValidatePattern('^\w[\w.+-]*$')]
    [string]$Distribution,

    [ValidateSet('docker', 'distribution')]
    [string]$From = 'docker'
)
$ErrorActionPreference = 'Stop'
# Else wsl answers in UTF-16, and Windows PowerShell reads what a distribution says in the code page of the console.
$env:WSL_UTF8 = '1'
[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false

if (-not (Get-Command 'wsl.exe' -ErrorAction SilentlyContinue)) {
    Write-Error 'WSL is not enabled: run  wsl --install --no-distribution  as administrator and restart Windows if it asks for it.'
}
# A wsl.exe that does not know WSL_UTF8 leaves a NUL behind each character.
$names = & wsl.exe --list --quiet | ForEach-Object { ($_ -replace '\0', '').Trim() } | Where-Object { $_ -ne '' }
if ($names -notcontains $Distribution) {
    Write-Error "There is no WSL distribution $Distribution. Install it: wsl --install -d $Distribution --no-launch (if you did: start it once with  wsl -d $Distribution )"
}

$folder = Split-Path -Parent $PSScriptRoot
# A folder of Windows as the distribution sees it; forward slashes need no quoting on the way.
$inside = & wsl.exe -d $Distribution -u root --exec wslpath -a ($folder -replace '\\', '/')
if ($LASTEXITCODE -ne 0 -or -not $inside) {
    Write-Error "The distribution $Distribution does not see $folder (is automount off in /etc/wsl.conf?)."
}
$script = "$($inside.Trim())/scripts/setup-python-sandbox.sh"
$arguments = @('-d', $Distribution, '-u', 'root', '--exec', 'bash', $script, '--from', $From)
$user = & wsl.exe -d $Distribution --exec whoami
if ($LASTEXITCODE -eq 0 -and $user -and $user.Trim() -ne 'root') {
    $arguments += @('--user', $user.Trim())
}
& wsl.exe @arguments
if ($LASTEXITCODE -ne 0) {
    Write-Error "The set-up in $Distribution failed with exit code $LASTEXITCODE."
}

Write-Output ''
Write-Output 'Now write into my.txt and restart the server:'
Write-Output "  kb.python.wsl.distribution=$Distribution"
Write-Output '  kb.python.timeout_seconds=15'
Write-Output "and check it: .\scripts\Test-PythonSandbox.ps1 -Distribution $Distribution"
