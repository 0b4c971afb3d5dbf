# shellcheck shell=bash
# A PostgreSQL for one test run: sourced by scripts/test. Needs print.sh.

# start_throwaway_postgres: exports ASSAY_TEST_DATABASE_URL. The caller calls stop_throwaway_postgres at its exit.
start_throwaway_postgres() {
  local bin=/usr/lib/postgresql/15/bin
  [[ -x $bin/postgres ]] || die "$bin/postgres is missing: run scripts/bootstrap"
  # A short path: a unix socket's name is at most 107 bytes.
  postgres_folder=$(mktemp -d /tmp/assay-test.XXXXXX)
  chmod 0711 "$postgres_folder"
  mkdir "$postgres_folder/data" "$postgres_folder/socket"
  local -a as=()
  if ((EUID == 0)); then
    # The server refuses root. The package made this user; the socket stays open to whoever runs the tests.
    chown postgres:postgres "$postgres_folder/data" "$postgres_folder/socket"
    # The kernel stops the server with the script, even when the script is killed.
    as=(setpriv --reuid postgres --regid postgres --init-groups --pdeathsig INT)
  fi
  (cd / && "${as[@]}" "$bin/initdb" -D "$postgres_folder/data" -U assay -A trust -E UTF8 --locale=C --no-sync \
    >"$postgres_folder/log" 2>&1) || {
    cat "$postgres_folder/log" >&2
    die "initdb failed"
  }
  # The data dies with the run, so durability is off. The tests that kill a server use clusters of their own.
  (cd / && exec "${as[@]}" "$bin/postgres" -D "$postgres_folder/data" -k "$postgres_folder/socket" \
    -c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
    -c max_connections=200) >>"$postgres_folder/log" 2>&1 &
  postgres_pid=$!
  local tries=0
  until "$bin/pg_isready" -q -h "$postgres_folder/socket" -U assay -d postgres; do
    if ! kill -0 "$postgres_pid" 2>/dev/null || ((++tries > 200)); then
      cat "$postgres_folder/log" >&2
      die "the test database did not start"
    fi
    sleep 0.05
  done
  "$bin/createdb" -h "$postgres_folder/socket" -U assay assay_test
  export ASSAY_TEST_DATABASE_URL="postgresql:///assay_test?host=$postgres_folder/socket&user=assay"
  note "PostgreSQL $("$bin/postgres" --version | grep -o '[0-9.]*' | head -n 1) at $postgres_folder"
}

stop_throwaway_postgres() {
  if [[ -n ${postgres_pid:-} ]]; then
    kill -INT "$postgres_pid" 2>/dev/null || true
    wait "$postgres_pid" 2>/dev/null || true
  fi
  if [[ -n ${postgres_folder:-} ]]; then rm -rf "$postgres_folder"; fi
}
