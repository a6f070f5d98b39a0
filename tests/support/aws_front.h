// What AWS does and moto does not, in front of a moto, on a free port of loopback: it throttles,
// has no capacity, finds keys expired, loses answers, runs the lifecycle hooks that moto only
// keeps, and refuses by the resources and conditions of a policy. All else moto answers. Used by
// the tests of what speaks to EC2 and Auto Scaling.
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

// As the service itself answers; each answer has another request ID.
struct AwsRefusal {
  int status = 400;
  std::string code, message;
};

class AwsFront {
 public:
  explicit AwsFront(Moto& moto);

  // Those of a user of moto, who comes through here.
  [[nodiscard]] std::map<std::string, std::string> variables(
      std::map<std::string, std::string> of_user) const;

  // The next `times` calls of the action are refused, and moto hears nothing of them.
  void refuse(const std::string& action, const AwsRefusal& refusal, int times = 1);
  // The next call of the action is carried out, and its answer is that of a server that failed.
  void lose_answer(const std::string& action);
  // From now on this policy decides too, with its resources and conditions.
  void enforce(const Json& policy);
  // What somebody who has an instance in Terminating:Wait says of it: CompleteLifecycleAction.
  void complete_hook(const std::string& instance);

  // How often the action was asked for, and how often moto was asked to carry it out.
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
  // Whether a hook of its group keeps the instance from ending.
  [[nodiscard]] bool is_held_by_hook(const std::string& instance);
  void show_waiting(std::string& body) const;
  [[nodiscard]] http::Response refusal(const std::string& action, const AwsRefusal& refusal);
  [[nodiscard]] http::Response unauthorized(const std::string& action, const std::string& instance);
  // What moto has of an instance or of its group, asked as the administrator.
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
  std::unique_ptr<http::Server> server_;  // the last: it ends first
};

}  // namespace gpuward::support
