#include <gtest/gtest.h>

#include "core/kube/config.h"
#include "tests/support/environment.h"
#include "tests/support/temp_dir.h"

namespace gpuward::kube {
namespace {

using support::Environment;

constexpr const char* kCa = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

class InClusterTest : public ::testing::Test {
 protected:
  void fill() {
    folder.write("token", "t0k3n\n");
    folder.write("ca.crt", kCa);
    folder.write("namespace", "gpuward-system\n");
  }
  support::TempDir folder;
  Environment host{"KUBERNETES_SERVICE_HOST", "10.0.0.1"};
  Environment port{"KUBERNETES_SERVICE_PORT", "443"};
};

TEST_F(InClusterTest, ComesFromTheServiceAccount) {
  fill();
  const auto config = load_in_cluster(folder.path());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token_file, folder / "token");
  EXPECT_EQ(config->tls.ca_file, folder / "ca.crt");
  EXPECT_EQ(config->default_namespace, "gpuward-system");
  EXPECT_FALSE(config->tls.skip_verify);
}

TEST_F(InClusterTest, PutsAnIpv6AddressInBrackets) {
  fill();
  const Environment six("KUBERNETES_SERVICE_HOST", "fd00::1");
  EXPECT_EQ(load_in_cluster(folder.path())->server, "https://[fd00::1]:443");
}

TEST_F(InClusterTest, IsNoPodWithoutTheService) {
  fill();
  const Environment none("KUBERNETES_SERVICE_PORT", "");
  EXPECT_EQ(load_in_cluster(folder.path()).error().kind, ErrorKind::kNotFound);
}

TEST_F(InClusterTest, FailsClosedWithoutToken) {
  fill();
  folder.write("token", " \n");
  EXPECT_EQ(load_in_cluster(folder.path()).error().kind, ErrorKind::kInvalid);
  std::filesystem::remove(folder / "token");
  EXPECT_EQ(load_in_cluster(folder.path()).error().kind, ErrorKind::kInvalid);
}

TEST_F(InClusterTest, FailsClosedWithoutCa) {
  fill();
  folder.write("ca.crt", "not a certificate");
  EXPECT_EQ(load_in_cluster(folder.path()).error().kind, ErrorKind::kInvalid);
  std::filesystem::remove(folder / "ca.crt");
  EXPECT_EQ(load_in_cluster(folder.path()).error().kind, ErrorKind::kInvalid);
}

TEST_F(InClusterTest, AMissingNamespaceIsDefault) {
  fill();
  std::filesystem::remove(folder / "namespace");
  EXPECT_EQ(load_in_cluster(folder.path())->default_namespace, "default");
}

}  // namespace
}  // namespace gpuward::kube
