# shellcheck shell=bash
# Which tests run when: `./dev test`, .ci/run and `./dev test --all`, each more than the one before (docs/developing.md says
# what each has and why). Read by `dev`, whose functions it calls.

# run_tests TIER FOLDER [ARGUMENT...]: the tests of a build folder that a tier has: `test`, `landing` or `all`. In the last two
# a test fails if a part that its tier has is missing (tests/support/require.h). The last line is ctest's own summary.
run_tests() {
  local tier=$1 folder=$2 log=$2/tests.log ok=0 start=$SECONDS skipped
  shift 2
  # The limit counts halves of a test (tests/CMakeLists.txt): two tests more than cores, because most wait for
  # processes.
  GPUWARD_TIER=$tier GTEST_BRIEF=1 ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$((2 * ($(nproc) + 2)))" "$@" |
    tee "$log" || ok=$?
  TIMES+=("$((SECONDS - start)) running the tests, beside each other; the longest:")
  skipped=$(grep -A1 ': Skipped$' "$folder/Testing/Temporary/LastTest.log" | grep -vE '^--$|: Skipped$' | sort | uniq -c || true)
  [ -z "$skipped" ] || printf 'Not run here, and why:\n%s\n' "$skipped"
  if [ "$tier" != test ] && grep -qv ' runs with ' <<<"${skipped:- runs with }"; then
    echo "A case was skipped that this tier has: see above" >&2
    ok=1
  fi
  echo 'Where the time went, in seconds:'
  printf '%s\n' "${TIMES[@]}"
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9]+)\.[0-9]+ sec.*/    \2 \1/p' "$log" | sort -rn | sed -n 1,12p
  sed -n '/% tests passed/p' "$log"
  return "$ok"
}

# ctest does not start tests with a label of a higher tier; the others skip the cases that need it.
test_here() { build release; run_tests test build/release --label-exclude '^(landing|all)$' "$@"; }

# The tests of the release build, and what protects a landing: the real API server and its tests, the sanitizers on
# parsers and on code that owns threads, and lint. They are entries of one ctest, so that computing tests run while
# others wait.
test_landing() {
  build release
  need_packages "${LINT_PACKAGES[@]}"
  need_go_for api-server helm
  neighbours need clang-tidy
  use_cluster_programs
  mkdir -p build/landing
  cat >build/landing/CTestTestfile.cmake <<TEXT
subdirs("$PWD/build/release")
add_test(api_server nice -n 19 "$PWD/tests/neighbours/neighbours" need api-server helm)
set_tests_properties(api_server PROPERTIES FIXTURES_SETUP api_server TIMEOUT 3600 COST 1000)
add_test(sanitized "$PWD/dev" test --sanitized)
add_test(lint_of_changes nice -n 19 "$PWD/dev" lint --changed)
set_tests_properties(sanitized lint_of_changes PROPERTIES TIMEOUT 3600 COST 900)
TEXT
  run_tests landing build/landing --label-exclude '^all$' "$@"
}

# Only the compiler yields to the tests that run meanwhile: these tests have time limits themselves.
test_sanitized() {
  nice -n 19 ./dev build asan sanitized_tests
  run_tests landing build/asan --label-regex '^sanitized$'
}

# Each preset's own ctest, and lint, under one summary. The tests on the real cluster wait more than they compute: they
# start before the parts that they do not need are built.
test_all() {
  local preset
  deps --all
  build release
  use_cluster_programs
  rm -rf build/all/cluster
  mkdir -p build/all/cluster
  GPUWARD_CLUSTER_BEGIN=$PWD/build/all/cluster GPUWARD_TIER=all setsid /usr/bin/python3 tests/cluster/cluster_test.py &
  trap 'yield_to_others 0; kill %1 2>/dev/null && wait %1 || true' EXIT
  yield_to_others 19
  for preset in asan tsan; do build "$preset"; done
  yield_to_others 0
  {
    for preset in release asan tsan; do echo "subdirs(\"$PWD/build/$preset\")"; done
    echo "add_test(lint nice -n 19 \"$PWD/dev\" lint)"
    echo "set_tests_properties(lint PROPERTIES TIMEOUT 3600 COST 900)"
  } >build/all/CTestTestfile.cmake
  GPUWARD_CLUSTER_AWAIT=$PWD/build/all/cluster run_tests all build/all
}

# Sets how nice (0 to 19) this session is to the others, if the kernel shares the processors out among sessions.
yield_to_others() { echo "$1" 2>/dev/null >/proc/self/autogroup || true; }

# The tests whose program, or a file that it loads, is newer than their last run that passed; always the three that read
# all sources and pages.
changed_tests() {
  local since=$1 name files file
  echo architecture_test
  echo reference_test
  echo printed_words_test
  while read -r name files; do
    for file in $files; do
      if [ "$file" -nt "$since" ]; then echo "$name"; break; fi
    done
  done <build/release/files_of_tests.txt
}

test_changed() {
  build release
  local passed=build/release/tests_passed tests
  touch "$passed.next"
  tests=$(changed_tests "$passed" | sort -u)
  run_tests test build/release --label-exclude '^(landing|all|process|e2e|simulation|fuzz)$' -R "^(${tests//$'\n'/|})\$" || return
  mv "$passed.next" "$passed"
}

# test_stress N [NAME]: ends the shell's loops with itself, each by its id.
test_stress() {
  local times=${1:?how many times?} name=${2:-_process_test$|^e2e|control_plane} busy=()
  build release
  need_neighbours api-server helm
  use_cluster_programs
  for _ in $(seq "$((2 * $(nproc)))"); do
    while :; do :; done &
    busy+=("$!")
  done
  trap "kill ${busy[*]}" EXIT
  run_tests landing build/release --repeat "until-fail:$times" -R "$name"
}

test_kubernetes() {
  local version=${1:?which version?} server
  build release
  need_neighbours api-server controllers
  use_cluster_programs
  server=$(neighbours api-server "$version")
  KUBE_APISERVER=$server run_tests landing build/release -R '(^contract_on_api_server|control_plane|exporter_admission)_test$'
}

# The tests of the fake Loki, on a real one too.
test_loki() {
  build release loki_test
  need_neighbours loki
  build/release/bin/loki_test "$@"
}

# The arguments of `./dev test`.
run_tier() {
  case ${1:-} in
    --all | --changed | --landing | --sanitized | --stress | --kubernetes | --loki) "test_${1#--}" "${@:2}" ;;
    --cluster-long) GPUWARD_CLUSTER_TEST=long cluster test ;;
    *) test_here "$@" ;;
  esac
}
