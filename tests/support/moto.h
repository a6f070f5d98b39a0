// moto's server on a free port of 127.0.0.1: EC2, Auto Scaling, IAM, STS and more of AWS as others
// have written it, in memory. It checks every signature and every right to an action (of a policy's
// conditions and resources it knows nothing). Used by the tests of what speaks to AWS: start one a
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
  // Why none can be started on this machine; empty where one can. For GPUWARD_REQUIRE.
  [[nodiscard]] static std::string why_unavailable();
  // Returns once it answers and has an administrator; an error carries the end of its log.
  [[nodiscard]] static Result<std::unique_ptr<Moto>> start();

  [[nodiscard]] const std::string& url() const { return url_; }
  // Who may do all.
  [[nodiscard]] aws::AwsClient& admin() { return *admin_; }
  // The root element of its answer.
  [[nodiscard]] Result<aws::XmlElement> ec2(const std::string& action, http::Query parameters);
  [[nodiscard]] Result<aws::XmlElement> auto_scaling(const std::string& action,
                                                     http::Query parameters);
  [[nodiscard]] Result<aws::XmlElement> iam(const std::string& action, http::Query parameters);
  // What a program has in its environment to come here as a new user with these rights: endpoint,
  // region and keys. `policy` is an IAM policy document.
  [[nodiscard]] Result<std::map<std::string, std::string>> add_user(const std::string& name,
                                                                    const std::string& policy);
  // The id of a new instance with these parameters of RunInstances beside.
  [[nodiscard]] Result<std::string> run_instance(http::Query more = {});
  // The only member of a new Auto Scaling group in us-east-1a that always has one, with these
  // parameters of CreateAutoScalingGroup beside.
  [[nodiscard]] Result<std::string> run_group(const std::string& name,
                                              const http::Query& more = {});
  [[nodiscard]] std::vector<std::string> members_of(const std::string& group);
  // "running"; empty for an instance that it does not know.
  [[nodiscard]] std::string state_of(const std::string& instance);
  // It wants a signature of every request, of those too that AWS takes without: the next one
  // passes unchecked.
  void let_one_pass() const;
  // Lets it stand still (SIGSTOP) and go on (SIGCONT).
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
