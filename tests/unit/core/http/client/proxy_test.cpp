#include <gtest/gtest.h>

#include "core/http/client/client.h"
#include "tests/support/environment.h"
#include "tests/unit/core/http/client/raw_server.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using support::Environment;

class ClientProxyTest : public ::testing::Test {
 protected:
  static Result<ClientResponse> get(const std::string& url) {
    return CurlClient().send(get_request(url));
  }
  // Uses a short time-out, because an address of the cloud may not answer.
  static void try_to_get(const std::string& url) {
    ClientRequest request = get_request(url);
    request.timeout = std::chrono::milliseconds(2'000);
    static_cast<void>(CurlClient().send(request));
  }
  RawServer proxy_{{"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\np5.48xlarge"}};
  Environment http_proxy_{"http_proxy", proxy_.url("")};
  Environment lower_{"no_proxy", ""};
  Environment upper_{"NO_PROXY", ""};
};

TEST_F(ClientProxyTest, IsTakenFromTheEnvironment) {
  ASSERT_TRUE(get("http://192.0.2.1/a"));  // RFC 5737: for documentation only
  EXPECT_TRUE(proxy_.received().starts_with("GET http://192.0.2.1/a HTTP/1.1\r\n"));
}

// The proxy would return its own instance type, and gpuward would use it for this machine.
TEST_F(ClientProxyTest, IsNeverAskedForWhatTheCloudSaysAboutThisMachine) {
  try_to_get("http://169.254.169.254:1/");
  try_to_get("http://[fd00:ec2::254]:1/");
  try_to_get("http://169.254.170.23:1/");
  EXPECT_EQ(proxy_.connections(), 0);
}

TEST_F(ClientProxyTest, IsNeverAskedForThisMachineItself) {
  RawServer own({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"});
  EXPECT_EQ(get(own.url("/"))->body, "ok");
  EXPECT_EQ(proxy_.connections(), 0);
}

}  // namespace
}  // namespace gpuward::http
