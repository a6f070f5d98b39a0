#include "tests/dev/checkout.h"

#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "tests/places.inc"

namespace gpuward::dev {
namespace {

namespace fs = std::filesystem;

std::string repository_file(const std::string& path) {
  const auto text = read_file(fs::path(GPUWARD_SOURCE_DIR) / path);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

// dpkg-query -W -f FORMAT PACKAGE...
constexpr const char* kDpkgQuery = R"(shift 3
for package; do
  case " $MISSING " in *" $package "*) ;; *) echo "installed $package" ;; esac
done)";

constexpr const char* kAptGet = R"(echo "apt-get $*" >>"$ASKED"
[ -n "$UNINSTALLABLE" ] || exit 0
case " $* " in *" $UNINSTALLABLE "*) exit 100 ;; esac)";

constexpr const char* kCmake = R"(echo "cmake $*" >>"$ASKED"
if [ "$*" = "--build build/$UNBUILDABLE -- --quiet" ]; then
  until grep -q 'cluster begins' "$ASKED"; do sleep 0.05; done
  exit 1
fi
[ "$1" = --preset ] || exit 0
mkdir -p "build/$2" && touch "build/$2/build.ninja")";

// Records its start. If something cannot be built, runs until SIGTERM.
constexpr const char* kClusterTest = R"(import os, signal, sys
asked = open(os.environ["ASKED"], "a")
def end(*_):
    print("cluster ends", file=asked, flush=True)
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
print("cluster begins", file=asked, flush=True)
if os.environ.get("UNBUILDABLE"):
    signal.pause()
)";

// Prints the output of ctest and of a skipped GoogleTest case.
constexpr const char* kCtest = R"(echo "ctest $* GPUWARD_TIER=$GPUWARD_TIER" >>"$ASKED"
while [ "$1" != --test-dir ]; do shift; done
mkdir -p "$2/Testing/Temporary"
echo '1/2 Test #1: quick_test ....... Passed    0.50 sec'
echo '2/2 Test #2: long_test ........ Passed   61.50 sec'
echo '100% tests passed, 0 tests failed out of 2'
{
  echo '[ RUN      ] Flow.Runs'
  [ -z "$SKIPPED" ] || printf '/src/flow_test.cpp:9: Skipped\n%s\n\n' "$SKIPPED"
} >"$2/Testing/Temporary/LastTest.log"
exit "${TESTS_END_WITH:-0}")";

// `git status --porcelain`; only a release runs it.
constexpr const char* kGit = R"([ "$1" != status ] || printf '%s' "$CHANGED")";

// Builds nothing.
constexpr const char* kNeighbours = R"(#!/bin/bash
case $1 in
  need) echo "neighbours $*" >>"$ASKED" ;;
  folder) echo "$GPUWARD_CACHE/$2" ;;
esac)";

}  // namespace

Checkout::Checkout() {
  script("dev", repository_file("dev"));
  script("tests/cluster/cluster_test.py", kClusterTest);
  script("CMakeLists.txt", repository_file("CMakeLists.txt"));
  script("tests/tiers.bash", repository_file("tests/tiers.bash"));
  script("manifests/packaging/release", repository_file("manifests/packaging/release"));
  script("tests/neighbours/neighbours", kNeighbours);
  for (const auto& [name, body] : std::map<std::string, std::string>{{"dpkg-query", kDpkgQuery},
                                                                     {"apt-get", kAptGet},
                                                                     {"cmake", kCmake},
                                                                     {"ctest", kCtest},
                                                                     {"git", kGit},
                                                                     {"sudo", R"(exec "$@")"}}) {
    script("machine/" + name, "#!/bin/bash\n" + body + "\n");
  }
}

void Checkout::script(const std::string& path, const std::string& body) const {
  fs::create_directories((folder_ / path).parent_path());
  fs::permissions(folder_.write(path, body), fs::perms::owner_all);
}

support::Process::Outcome Checkout::dev(std::vector<std::string> arguments,
                                        std::map<std::string, std::string> env) const {
  arguments.insert(arguments.begin(), (folder_ / "dev").string());
  env.insert({{"PATH", (folder_ / "machine").string() + ":/usr/bin:/bin"},
              {"GPUWARD_CACHE", (folder_ / "cache").string()},
              {"ASKED", (folder_ / "asked").string()},
              {"GPUWARD_TIER", ""},
              {"MISSING", ""},
              {"CHANGED", ""},
              {"UNINSTALLABLE", ""},
              {"SKIPPED", ""}});
  // Ends a hanging run, even on a busy machine: a `./dev` starts hundreds of processes.
  auto outcome = support::Process::run({.argv = std::move(arguments), .env = std::move(env)},
                                       std::chrono::minutes(10));
  if (outcome) return *std::move(outcome);
  ADD_FAILURE() << outcome.error().message;
  return {.exit_code = -1, .output = {}, .error_output = {}};
}

std::string Checkout::asked() const { return read_file(folder_ / "asked").value_or(""); }

}  // namespace gpuward::dev
