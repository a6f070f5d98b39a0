// moto's server on a free port of 127.0.0.1: another project's EC2, Auto Scaling, IAM, STS and more
// of AWS, in memory. It checks every signature and every permission for an action, but not the
// conditions and resources of a policy. Used by the tests of code that calls AWS: start one per
// test program and keep it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/aws/client.h"
#include "core/model/result.h"
#include "tests/support/process.h"

namespace gpuward::support {

class Moto {
 public:
  // Why none can be started on this machine; empty if one can. For GPUWARD_REQUIRE.
  [[nodiscard]] static std::string why_unavailable();
  // Returns once it answers and has an administrator; an error contains the end of its log.
  [[nodiscard]] static Result<std::unique_ptr<Moto>> start();

  [[nodiscard]] const std::string& url() const { return url_; }
  // A client with all permissions.
  [[nodiscard]] aws::AwsClient& admin() { return *admin_; }
  // The root element of its answer.
  [[nodiscard]] Result<aws::XmlElement> ec2(const std::string& action, http::Query parameters);
  [[nodiscard]] Result<aws::XmlElement> auto_scaling(const std::string& action,
                                                     http::Query parameters);
  [[nodiscard]] Result<aws::XmlElement> iam(const std::string& action, http::Query parameters);
  // The environment in which a program calls it as a new user with these permissions: endpoint,
  // region and keys. `policy` is an IAM policy document.
  [[nodiscard]] Result<std::map<std::string, std::string>> add_user(const std::string& name,
                                                                    const std::string& policy);
  // Starts an instance with these additional parameters of RunInstances; returns its id.
  [[nodiscard]] Result<std::string> run_instance(http::Query more = {});
  // Makes an Auto Scaling group in us-east-1a that always has one instance, with these additional
  // parameters of CreateAutoScalingGroup; returns that instance.
  [[nodiscard]] Result<std::string> run_group(const std::string& name,
                                              const http::Query& more = {});
  [[nodiscard]] std::vector<std::string> members_of(const std::string& group);
  // "running"; empty for an unknown instance.
  [[nodiscard]] std::string state_of(const std::string& instance);
  // moto requires a signature for every request, even if AWS accepts the request without one: the
  // next request passes unchecked.
  void let_one_pass() const;
  // Stops the process (SIGSTOP) and continues it (SIGCONT).
  void freeze() const;
  void thaw() const;

 private:
  Moto();
  [[nodiscard]] Status spawn();
  [[nodiscard]] Status load_services();
  [[nodiscard]] std::map<std::string, std::string> variables(const std::string& id,
                                                             const std::string& secret) const;
  [[nodiscard]] Result<std::map<std::string, std::string>> add_user(aws::AwsClient& as,
                                                                    const std::string& name,
                                                                    const std::string& policy);

  std::string url_;
  SystemClock clock_;
  http::CurlClient http_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<aws::AwsClient> admin_;
};

}  // namespace gpuward::support
