// The API server's answers to one informer of a replica: lists from its store, and watches up to
// the state of its cache of that kind. Lists and watches fail here, connections are cut in the
// middle of a line or die silently, and the server forgets old changes. Has its own chance, so that
// the rest of a simulation stays as it is.
#pragma once

#include <cstdint>
#include <string>

#include "core/http/client/client.h"
#include "tests/fakes/in_process_client.h"
#include "tests/simulation/bend.h"

namespace gpuward::remediator::simulation {

class WatchWire final : public http::Client {
 public:
  // `kind`: kNode or kRemediation.
  WatchWire(Stage& stage, Resource kind) : stage_(stage), kind_(kind) {}

  // The server's cache has reached the next `count` changes of the cluster.
  void serve(std::size_t count);
  // No answer arrives until then.
  void die_until(Clock::Steady end) { dead_until_ = end; }
  [[nodiscard]] std::string collection() const;
  // How long the caller waits for an answer that does not come.
  [[nodiscard]] Clock::Steady busy_until() const { return busy_until_; }
  // The informer has received all changes up to that version of the store, perhaps bent by a
  // sabotage.
  [[nodiscard]] Version told() const { return restores_ == stage_.restores ? told_ : 0; }
  [[nodiscard]] bool has_told_all() const { return told() >= served(); }
  // When it last received anything.
  [[nodiscard]] Clock::Steady spoke() const { return spoke_; }
  // Whether the last request was for a list.
  [[nodiscard]] bool has_listed() const { return has_listed_; }

  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  enum class Fault { kNone, kRefused, kGone, kForgets, kCut };

  [[nodiscard]] bool is_dead() const;
  void note_restore();
  [[nodiscard]] Fault draw_fault();
  [[nodiscard]] Version served() const;
  std::unexpected<Error> no_answer(std::chrono::milliseconds within);
  [[nodiscard]] Result<http::ClientResponse> tell_changes(
      Version since, Fault fault, const std::function<bool(std::string_view)>& on_bytes);
  [[nodiscard]] Json bent(const Json& object) const;
  void note_told(Version version);

  Stage& stage_;
  const Resource kind_;
  fakes::InProcessClient client_{stage_.kube};
  std::size_t served_ = 0;  // number of changes of the cluster
  Version told_ = 0;
  int restores_ = 0;  // the restores of etcd that it knows of
  Clock::Steady spoke_{}, dead_until_{}, busy_until_{};
  bool has_listed_ = false;
};

}  // namespace gpuward::remediator::simulation
