# shellcheck shell=bash
# How the scripts speak: sourced, never run. Colours only where standard error is a terminal.
if [[ -t 2 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' red=$'\e[31m' yellow=$'\e[33m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' red='' yellow='' dim='' plain=''
fi

step() { printf '%s==> %s%s\n' "$bold" "$*" "$plain" >&2; }
note() { printf '    %s\n' "$*" >&2; }
warn() { printf '%swarning: %s%s\n' "$yellow" "$*" "$plain" >&2; }
die() {
  printf '%serror: %s%s\n' "$red" "$*" "$plain" >&2
  exit 1
}

# took NAME SECONDS_AT_START: says how long a step lasted.
took() { printf '    %s%s: %d s%s\n' "$dim" "$1" "$((SECONDS - $2))" "$plain" >&2; }
