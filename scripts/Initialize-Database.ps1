# Applies the numbered scripts to the configured database (my.txt, or DATABASE_URL). Safe to repeat; existing data
# stays; stops at the first script that fails. Twin: initialize-database.sh
$ErrorActionPreference = 'Stop'
Set-Location (Join-Path $PSScriptRoot '..')
& node tools/run.mjs migrate
exit $LASTEXITCODE
