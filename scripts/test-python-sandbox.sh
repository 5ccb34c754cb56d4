#!/usr/bin/env sh
# Runs functions through the real sandbox with the configured engine and checks what they can do: value, user, secrets, root
# file system, network, limits. Exit code 1 if any check fails. Twin: Test-PythonSandbox.ps1
set -eu
cd "$(dirname "$0")/.."
exec node tools/run.mjs test-sandbox "$@"
