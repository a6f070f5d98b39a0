// Adds behaviour of AWS that moto lacks, in front of a moto, on a free loopback port: it throttles,
// has no capacity, reports expired keys, loses answers, runs the lifecycle hooks that moto only
// stores, and checks the resources and conditions of a policy. moto answers everything else. Used
// by the tests of code that calls EC2 and Auto Scaling.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/http/server/server.h"
#include "core/runtime/json.h"
#include "tests/support/iam_policy.h"
#include "tests/support/moto.h"

namespace gpuward::support {

// The answer of the service itself; each answer has another request ID.
struct AwsRefusal {
  int status = 400;
  std::string code, message;
};

class AwsFront {
 public:
  explicit AwsFront(Moto& moto);

  // The environment of a user of moto, with this address.
  [[nodiscard]] std::map<std::string, std::string> variables(
      std::map<std::string, std::string> of_user) const;

  // Refuses the next `times` calls of the action; they do not reach moto.
  void refuse(const std::string& action, const AwsRefusal& refusal, int times = 1);
  // Carries out the next call of the action, and answers as a server that failed.
  void lose_answer(const std::string& action);
  // From now on this policy decides too, with its resources and conditions.
  void enforce(const Json& policy);
  // CompleteLifecycleAction for an instance in Terminating:Wait, as another user's program calls
  // it.
  void complete_hook(const std::string& instance);

  // The number of calls of the action, and of those that reached moto.
  [[nodiscard]] int asked(const std::string& action) const;
  [[nodiscard]] int carried_out(const std::string& action) const;

 private:
  struct Counts {
    int asked = 0, carried_out = 0;
  };
  [[nodiscard]] http::Response answer(const http::Request& request);
  [[nodiscard]] http::Response pass_on(const http::Request& request, const std::string& action);
  [[nodiscard]] bool takes_refusal(const std::string& action, AwsRefusal& out);
  [[nodiscard]] bool may(const std::string& action, const std::string& instance);
  // Whether a hook of its group delays the end of the instance.
  [[nodiscard]] bool is_held_by_hook(const std::string& instance);
  void show_waiting(std::string& body) const;
  [[nodiscard]] http::Response refusal(const std::string& action, const AwsRefusal& refusal);
  [[nodiscard]] http::Response unauthorized(const std::string& action, const std::string& instance);
  // moto's data of an instance or of its group, read as the administrator.
  [[nodiscard]] std::string group_of(const std::string& instance);
  [[nodiscard]] IamCall call_of(const std::string& action, const std::string& instance);

  Moto& moto_;
  http::CurlClient http_;
  mutable std::mutex mutex_;
  std::map<std::string, Counts> counts_;  // this and the rest: guarded by mutex_
  std::map<std::string, std::vector<AwsRefusal>> refusals_;
  std::map<std::string, std::string> waiting_;  // instance in Terminating:Wait, its group
  std::string loses_answer_of_;
  Json policy_;
  int answers_ = 0;
  std::unique_ptr<http::Server> server_;  // the last member: it ends first
};

}  // namespace gpuward::support
