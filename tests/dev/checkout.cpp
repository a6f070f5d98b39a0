#include "tests/dev/checkout.h"

#include <gtest/gtest.h>

#include <regex>

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

// What stands in the parentheses of `pattern`.
std::string found_in(const std::string& path, const std::string& pattern) {
  const std::string text = repository_file(path);
  std::smatch found;
  EXPECT_TRUE(std::regex_search(text, found, std::regex(pattern))) << path << ": " << pattern;
  return found.size() > 1 ? found[1].str() : "";
}

constexpr const char* kDpkgQuery = R"(for package; do :; done
case " $MISSING " in *" $package "*) exit 1 ;; esac
echo 'install ok installed')";

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

// Goes on until it is told to end, where something cannot be built.
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

// Writes what ctest and a skipped GoogleTest case write.
constexpr const char* kCtest = R"(echo "ctest $* GPUWARD_TEST_ALL=$GPUWARD_TEST_ALL" >>"$ASKED"
while [ "$1" != --test-dir ]; do shift; done
mkdir -p "$2/Testing/Temporary"
{
  echo '[ RUN      ] Flow.Runs'
  [ -z "$SKIPPED" ] || printf '/src/flow_test.cpp:9: Skipped\n%s\n\n' "$SKIPPED"
} >"$2/Testing/Temporary/LastTest.log"
exit "${TESTS_END_WITH:-0}")";

// `git status --porcelain`.
constexpr const char* kGit = R"(printf '%s' "$CHANGED")";

}  // namespace

Checkout::Checkout() {
  script("dev", repository_file("dev"));
  script("tests/cluster/cluster_test.py", kClusterTest);
  for (const char* pins :
       {"tests/controlplane/go.mod", "tests/helm/go.mod", "tests/operator/go.mod",
        "tests/kwok/go.mod", "tests/karpenter/go.mod", "tests/prometheus/go.mod",
        "tests/alertmanager/go.mod", "tests/loki/go.mod", "tests/kuberouter/go.mod",
        "tests/moto/requirements.txt", "tests/release/requirements.txt",
        "tests/dev/requirements.txt", "CMakeLists.txt"}) {
    script(pins, repository_file(pins));
  }
  for (const auto& [name, body] : std::map<std::string, std::string>{{"dpkg-query", kDpkgQuery},
                                                                     {"apt-get", kAptGet},
                                                                     {"cmake", kCmake},
                                                                     {"ctest", kCtest},
                                                                     {"git", kGit},
                                                                     {"sudo", R"(exec "$@")"}}) {
    script("machine/" + name, "#!/bin/bash\n" + body + "\n");
  }
  fill_caches();
}

void Checkout::fill_caches() const {
  script("cache/civetweb-" + found_in("dev", "CIVETWEB=(\\S+)") + "/copyright", "");
  script("cache/clang-tidy-" + found_in("tests/dev/requirements.txt", "clang-tidy==(\\S+)") +
             "/bin/python",
         "");
  script("cache/moto-" + found_in("tests/moto/requirements.txt", "moto\\[server\\]==(\\S+)") +
             "/bin/python",
         "");
  script("cache/cyclonedx-" +
             found_in("tests/release/requirements.txt", "cyclonedx-python-lib\\[.*\\]==(\\S+)") +
             "/bin/python",
         "");
  const std::string kubernetes =
      "cache/kubernetes-" +
      found_in("tests/controlplane/go.mod", "k8s\\.io/kubernetes v([0-9.]+)") + "/";
  for (const char* name : {"kube-apiserver", "kube-controller-manager", "kubectl", "kubelet",
                           "kube-scheduler", "kube-proxy", "device-plugin", "dra-driver"}) {
    script(kubernetes + name, "");
  }
  script("cache/helm-" + found_in("tests/helm/go.mod", "helm\\.sh/helm/v3 v([0-9.]+)") + "/helm",
         "");
  const std::string prometheus =
      "cache/prometheus-" +
      found_in("tests/prometheus/go.mod", "/prometheus/prometheus v([0-9.]+)") + "/";
  for (const char* name : {"prometheus", "promtool"}) script(prometheus + name, "");
  const std::string alertmanager =
      "cache/alertmanager-" +
      found_in("tests/alertmanager/go.mod", "/prometheus/alertmanager v([0-9.]+)") + "/";
  for (const char* name : {"alertmanager", "amtool"}) script(alertmanager + name, "");
  script("cache/loki-" + found_in("tests/loki/go.mod", "/grafana/loki/v3 v([0-9.]+)") + "/loki",
         "");
  script("cache/kube-router-" + found_in("tests/kuberouter/go.mod", "/kube-router/v2 v([0-9.]+)") +
             "/kube-router",
         "");
  script("cache/prometheus-operator-" +
             found_in("tests/operator/go.mod", "/prometheus-operator v([0-9.]+)") + "/operator",
         "");
  script("cache/karpenter-" + found_in("tests/karpenter/go.mod", "/karpenter v([0-9.]+)") +
             "/karpenter",
         "");
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
              {"GPUWARD_TEST_ALL", ""},
              {"MISSING", ""},
              {"CHANGED", ""},
              {"UNINSTALLABLE", ""},
              {"SKIPPED", ""}});
  // Ends what hangs, however busy the machine is: a `./dev` starts hundreds of processes.
  auto outcome = support::Process::run({.argv = std::move(arguments), .env = std::move(env)},
                                       std::chrono::minutes(10));
  if (outcome) return *std::move(outcome);
  ADD_FAILURE() << outcome.error().message;
  return {.exit_code = -1, .output = {}, .error_output = {}};
}

std::string Checkout::asked() const { return read_file(folder_ / "asked").value_or(""); }

}  // namespace gpuward::dev
