// The folder of a release, from the programs of this build: two runs give the same files, and its
// images, packages, chart and lists are correct.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/manifests/tools.h"
#include "tests/places.inc"
#include "tests/support/neighbours.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::release {
namespace {

namespace fs = std::filesystem;
using support::Process;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr std::chrono::seconds kLimit{300};

std::string output_of(std::vector<std::string> argv) {
  const std::string program = argv[0];
  const auto outcome = Process::run({.argv = std::move(argv)}, kLimit);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return {};
  }
  EXPECT_EQ(outcome->exit_code, 0) << program << ": " << outcome->output << outcome->error_output;
  return outcome->output;
}

Json json_of(const fs::path& file) {
  return parse_json(read_file(file).value_or("")).value_or(Json());
}

class Release : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!manifests::why_no_helm().empty()) return;
    folders_ = std::make_unique<support::TempDir>();
    for (const fs::path& folder : {first(), second()}) {
      const auto made =
          Process::run({.argv = {GPUWARD_SOURCE_DIR "/manifests/packaging/assemble",
                                 fs::path(GPUWARD_BIN_DIR).parent_path().string(), folder.string()},
                        .env = {{"PATH", manifests::path_with_helm()}}},
                       kLimit);
      ASSERT_TRUE(made) << made.error().message;
      ASSERT_EQ(made->exit_code, 0) << made->error_output;
    }
  }
  static void TearDownTestSuite() { folders_.reset(); }
  void SetUp() override { GPUWARD_REQUIRE(manifests::why_no_helm()); }

  static fs::path first() { return *folders_ / "first"; }
  static fs::path second() { return *folders_ / "the-second"; }
  // Their names, sorted; only those with the ending, if there is one.
  static std::vector<std::string> files(const std::string& end = "") {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(first())) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(end)) out.push_back(name);
    }
    std::ranges::sort(out);
    return out;
  }

  static std::unique_ptr<support::TempDir> folders_;
};

std::unique_ptr<support::TempDir> Release::folders_;

TEST_F(Release, ComesOutTheSameTwice) {
  EXPECT_EQ(output_of({"diff", "-r", first().string(), second().string()}), "");
}

TEST_F(Release, HasImagesPackagesChartAndManifestsWithTheirDigests) {
  std::string architecture = output_of({"dpkg", "--print-architecture"});
  architecture.pop_back();
  std::vector<std::string> promised{"SHA256SUMS", "gpuward-" GPUWARD_VERSION ".tgz",
                                    "gpuward-" GPUWARD_VERSION ".yaml"};
  for (const std::string name : {"gpuward-exporter", "gpuward-remediator"}) {
    const std::string image = name + "-" GPUWARD_VERSION "-" + architecture;
    promised.insert(promised.end(), {image + ".oci.tar", image + ".cdx.json",
                                     name + "_" GPUWARD_VERSION "_" + architecture + ".deb"});
  }
  EXPECT_THAT(files(), IsSupersetOf(promised));
  const std::string checked = output_of(
      {"sh", "-c", R"(cd "$0" && sha256sum --check --strict SHA256SUMS)", first().string()});
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(checked, '\n')), files().size() - 1);
}

// An unpacked OCI archive.
struct Image {
  explicit Image(const fs::path& archive) {
    output_of({"tar", "-xf", archive.string(), "-C", folder.path().string()});
    const Json index = json_of(folder / "index.json");
    listed = member_at(index, "manifests").at(0);
    manifest = blob(listed);
    config = blob(member_at(manifest, "config"));
  }
  [[nodiscard]] fs::path file(const Json& descriptor) const {
    std::string digest = string_at(descriptor, "digest");
    std::ranges::replace(digest, ':', '/');
    return folder / ("blobs/" + digest);
  }
  [[nodiscard]] Json blob(const Json& descriptor) const { return json_of(file(descriptor)); }

  support::TempDir folder;
  Json listed, manifest, config;
};

TEST_F(Release, HasImagesThatAreAsTheContainerfileSays) {
  for (const std::string& name : files(".oci.tar")) {
    const Image image(first() / name);
    const std::string program = name.substr(0, name.find("-" GPUWARD_VERSION));
    const Json& config = member_at(image.config, "config");
    EXPECT_EQ(string_at(config, "User"), "65532:65532");
    EXPECT_EQ(member_at(config, "Entrypoint"), Json({"/usr/bin/" + program}));
    const Json& labels = member_at(config, "Labels");
    EXPECT_EQ(string_at(labels, "org.opencontainers.image.version"), GPUWARD_VERSION);
    EXPECT_EQ(string_at(labels, "org.opencontainers.image.licenses"), "Apache-2.0");
    EXPECT_EQ(string_at(member_at(image.listed, "annotations"), "io.containerd.image.name"),
              "docker.io/library/" + program + ":" GPUWARD_VERSION);
    if (program == "gpuward-exporter") {
      EXPECT_THAT(member_at(config, "Env"), AllOf(Contains("NVIDIA_VISIBLE_DEVICES=all"),
                                                  Contains("NVIDIA_DRIVER_CAPABILITIES=utility")));
    }
    // The digest of each part is its name.
    for (const Json& part : {image.listed, member_at(image.manifest, "config"),
                             member_at(image.manifest, "layers").at(0)}) {
      const fs::path file = image.file(part);
      EXPECT_THAT(output_of({"sha256sum", file.string()}),
                  testing::StartsWith(file.filename().string() + " "));
      EXPECT_EQ(member_at(part, "size").get<std::uintmax_t>(), fs::file_size(file));
    }
  }
}

TEST_F(Release, HasImagesThatAnEngineTakesAndRuns) {
  if (::geteuid() != 0) GPUWARD_REQUIRE("only root may chroot into an image");
  GPUWARD_REQUIRE(support::why_no_program("buildah"));
  for (const std::string& name : files(".oci.tar")) {
    const support::TempDir storage;
    const auto buildah = [&](std::vector<std::string> words) {
      words.insert(words.begin(),
                   {"buildah", "--storage-driver=vfs", "--root=" + (storage / "storage").string(),
                    "--runroot=" + (storage / "run").string()});
      return output_of(std::move(words));
    };
    const std::string program = name.substr(0, name.find("-" GPUWARD_VERSION));
    buildah({"from", "--quiet", "--name=one", "oci-archive:" + (first() / name).string()});
    EXPECT_EQ(buildah({"run", "--isolation=chroot", "one", "--", program, "--version"}),
              program + " " GPUWARD_VERSION "\n");
  }
}

TEST_F(Release, ListsWhatItsImagesConsistOfByTheSchemaOfCycloneDx) {
  GPUWARD_REQUIRE(support::why_not_built(support::kCycloneDx, "bin/python"));
  const std::string python = support::folder_of(support::kCycloneDx) / "bin/python";
  std::vector<std::string> argv{python, GPUWARD_SOURCE_DIR "/tests/release/validate.py"};
  for (const std::string& name : files(".cdx.json")) argv.push_back((first() / name).string());
  ASSERT_EQ(argv.size(), 4U);
  EXPECT_EQ(output_of(std::move(argv)), "\n");
}

// The components of an SBOM with that kind of link: "file" or "compiled in".
std::set<std::string> components(const Json& bom, const std::string& linked) {
  std::set<std::string> out;
  for (const Json& component : member_at(bom, "components")) {
    for (const Json& property : component.value("properties", Json::array())) {
      if (string_at(property, "value") == linked) out.insert(string_at(component, "name"));
    }
  }
  return out;
}

// The package of each library in an unpacked list of files, from dpkg, which knows some of them
// without /usr.
std::map<std::string, std::string> packages_of_libraries(const std::string& paths) {
  std::map<std::string, std::string> out;
  std::vector<std::string> asked{"sh", "-c", R"(dpkg-query --search "$@" 2>/dev/null || true)",
                                 "sh"};
  const std::regex library("usr(/lib[0-9]*/\\S*\\.so\\S*)\n"),
      answer("(\\S+?)(:\\S+)?: (/usr)?(\\S+)\n");
  for (std::sregex_iterator one(paths.begin(), paths.end(), library), end; one != end; ++one) {
    out[one->str(1)] = "no package of " + one->str(1);
    asked.insert(asked.end(), {one->str(1), "/usr" + one->str(1)});
  }
  const std::string owners = output_of(std::move(asked));
  for (std::sregex_iterator one(owners.begin(), owners.end(), answer), end; one != end; ++one)
    out[one->str(4)] = one->str(1);
  return out;
}

TEST_F(Release, ListsThePackageOfEveryLibraryOfItsImages) {
  for (const std::string& name : files(".oci.tar")) {
    const Image image(first() / name);
    const Json bom = json_of(first() / (name.substr(0, name.find(".oci.tar")) + ".cdx.json"));
    EXPECT_THAT(string_at(member_at(member_at(bom, "metadata"), "component"), "purl"),
                HasSubstr(image.file(image.listed).filename().string()));
    const auto listed = components(bom, "file");
    const auto packages = packages_of_libraries(
        output_of({"tar", "-tzf", image.file(member_at(image.manifest, "layers").at(0)).string()}));
    EXPECT_GT(packages.size(), 30U);
    for (const auto& [library, package] : packages) EXPECT_THAT(listed, Contains(package));
    EXPECT_THAT(listed, IsSupersetOf({"ca-certificates", "base-files"}));
  }
}

// Their licences require a notice: one list is here, one in manifests/packaging/CMakeLists.txt.
TEST_F(Release, CarriesTheLicencesOfWhatIsCompiledIn) {
  std::set<std::string> compiled_in, named;
  for (const std::string& name : files(".cdx.json"))
    compiled_in.merge(components(json_of(first() / name), "compiled in"));
  const std::string text =
      read_file(fs::path(GPUWARD_BIN_DIR).parent_path() / "copyright").value_or("");
  const std::regex heading("\n======== (.*) ========\n");
  for (std::sregex_iterator one(text.begin(), text.end(), heading), end; one != end; ++one)
    named.insert(one->str(1));
  EXPECT_EQ(compiled_in, named);
  EXPECT_THAT(text, HasSubstr("License: Apache-2.0\n"));
}

TEST_F(Release, HasTheChartOfTheTree) {
  const auto packed = manifests::helm({"template", "gpuward",
                                       (first() / "gpuward-" GPUWARD_VERSION ".tgz").string(),
                                       "--namespace=gpuward", manifests::offline()});
  EXPECT_EQ(packed.output, manifests::chart());
}

TEST_F(Release, HasThePlainYamlOfTheTreeInOneFile) {
  const std::string all = read_file(first() / "gpuward-" GPUWARD_VERSION ".yaml").value_or("");
  for (const char* name : {"crd", "exporter", "exporter-rbac", "remediator", "network-policies"}) {
    EXPECT_THAT(
        all, HasSubstr("---\n" + manifests::text_of("manifests/" + std::string(name) + ".yaml")));
  }
}

}  // namespace
}  // namespace gpuward::release
