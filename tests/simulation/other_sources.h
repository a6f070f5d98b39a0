// The sources of a replica other than the webhook, the product's own. In the product each has a
// thread; here they run one after the other.
#pragma once

#include <memory>
#include <vector>

#include "core/kube/api.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/gates/fenced_client.h"
#include "remediator/inbox/sources/alertmanager_poll.h"
#include "remediator/inbox/sources/source.h"
#include "tests/fakes/in_process_client.h"
#include "tests/simulation/announcements.h"
#include "tests/simulation/places.h"
#include "tests/simulation/silent_nodes.h"

namespace gpuward::remediator::simulation {

// What the log source stores in the cluster; the rules do not see it.
class CursorWire final : public http::Client {
 public:
  CursorWire(Stage& stage, std::string identity) : stage_(stage), identity_(std::move(identity)) {}
  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  Stage& stage_;
  const std::string identity_;  // in the lease
  fakes::InProcessClient client_{stage_.kube};
};

class OtherSources {
 public:
  OtherSources(Stage& stage, AnsweringPlaces& places, const ClusterView& view, Intake& intake,
               kube::Credentials& credentials, std::string identity, ScrapeStates& scrapes);

  // Runs the sources that are due now: the poll of Alertmanager on every replica, the others only
  // if this replica leads.
  void go_on(const std::function<bool()>& leads);
  [[nodiscard]] bool is_due(bool leads) const;

 private:
  struct Asked {
    std::unique_ptr<Source> source;
    Clock::Steady due;
  };
  void ask(Asked& asked);

  Stage& stage_;
  Intake& intake_;
  BentAnnouncements announcements_;
  CursorWire wire_;
  const std::function<bool()>* leads_ = nullptr;  // during a round, in which a process may stall
  FencedClient fence_;
  kube::Api api_;
  AlertmanagerApi alertmanager_;
  AlertmanagerPoll poll_;
  Clock::Steady poll_due_;
  std::vector<Asked> sources_;
};

}  // namespace gpuward::remediator::simulation
