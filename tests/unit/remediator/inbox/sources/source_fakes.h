// Fakes around the sources under test: an answer for each request, and the known evidence.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/http/client/client.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/inbox/sources/intake.h"

namespace gpuward::remediator {

// Gives the same answer to every request until another is set. One thread.
class AnsweringClient final : public http::Client {
 public:
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    requests.push_back(request);
    return answer;
  }
  Result<http::ClientResponse> stream(const http::ClientRequest&, std::chrono::milliseconds,
                                      std::stop_token,
                                      const std::function<bool(std::string_view)>&) override {
    return fail(ErrorKind::kInternal, "not used");
  }
  void say(int status, std::string body) {
    http::ClientResponse response;
    response.status = status;
    response.body = std::move(body);
    answer = std::move(response);
  }
  std::vector<http::ClientRequest> requests;
  Result<http::ClientResponse> answer = fail(ErrorKind::kUnavailable, "nobody there");
};

inline AlertSignal a_signal(const std::string& node, const std::string& fingerprint) {
  AlertSignal signal;
  signal.node = node;
  signal.severity = Severity::kReboot;
  signal.fingerprint = fingerprint;
  return signal;
}

class ListedEvidence final : public KnownEvidence {
 public:
  std::vector<AlertSignal> firing_from(std::string_view origin) const override {
    std::vector<AlertSignal> found;
    for (const AlertSignal& signal : all) {
      if (signal.fingerprint.starts_with(origin)) found.push_back(signal);
    }
    return found;
  }
  std::vector<AlertSignal> all;
};

// Keeps the signals that it gets, and refuses them if a test says so. Thread-safe.
class KeepingIntake final : public Intake {
 public:
  Result<IntakeCounts> take(std::span<const AlertSignal> signals, Clock::Steady) override {
    const std::lock_guard lock(mutex_);
    if (refuses_) return fail(ErrorKind::kOverloaded, "too many nodes are waiting");
    signals_.insert(signals_.end(), signals.begin(), signals.end());
    return IntakeCounts{.accepted = signals.size()};
  }
  void refuse(bool refuses) {
    const std::lock_guard lock(mutex_);
    refuses_ = refuses;
  }
  std::vector<AlertSignal> signals() {
    const std::lock_guard lock(mutex_);
    return signals_;
  }

 private:
  std::mutex mutex_;
  bool refuses_ = false;
  std::vector<AlertSignal> signals_;
};

}  // namespace gpuward::remediator
