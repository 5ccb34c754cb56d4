#!/usr/bin/env sh
# Applies the numbered scripts to the configured database (my.txt, or DATABASE_URL). Safe to repeat; existing data
# stays; stops at the first script that fails. Twin: Initialize-Database.ps1
set -eu
cd "$(dirname "$0")/.."
exec node tools/run.mjs migrate
