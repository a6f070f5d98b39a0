// Sends the same requests to two API servers, and compares the answers with equal uids, revisions
// and times. The cases are in differential_*_cases.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/json.h"

namespace gpuward::fakes {

// The part of a body that has to be the same.
enum class Compare {
  kAll,      // the whole object
  kOutcome,  // status code, and of a Status its reason, message and details
  kCode,     // status code and reason: the message is of a library that the fake does not have
};

struct Step {
  // The method AWAIT is a GET until it succeeds: a definition takes a moment on a real server.
  std::string method, path,
      body;  // ${uid:NAME}, ${rv:NAME}: of the last object seen under that name
  std::string content_type;
  Compare compare = Compare::kAll;
};

// Sends a request and returns the answer; path begins with '/'.
using Send = std::function<http::ClientResponse(const Step&)>;

// Runs steps against one server, and remembers the values of ${...}.
class Player {
 public:
  explicit Player(Send send) : send_(std::move(send)) {}
  // Returns "409 {...}" with equal values for uids and the like.
  [[nodiscard]] std::string play(Step step);

 private:
  void remember(const Json& object);
  [[nodiscard]] std::string filled(std::string text) const;
  Send send_;
  std::map<std::string, std::string> known_;
};

struct Case {
  std::string name;
  std::vector<Step> steps;
};

[[nodiscard]] std::vector<Case> node_cases();
[[nodiscard]] std::vector<Case> list_cases();
[[nodiscard]] std::vector<Case> object_cases();  // leases, configmaps, events, pods
[[nodiscard]] std::vector<Case> eviction_cases();
[[nodiscard]] std::vector<Case> custom_cases();

}  // namespace gpuward::fakes
