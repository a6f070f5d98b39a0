// Prometheus, Alertmanager's API and Loki as the replicas query them, behind one client. They
// answer late, with errors, with truncated text, with nothing because they have just started, or
// with a part of the data. Loki stores the lines of the machines' kernels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/http/client/client.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

// One line of a kernel that the catalogue classifies as a fault.
struct KernelLine {
  std::int64_t at = 0;    // nanoseconds since 1970
  Clock::Steady visible;  // when Loki has it
  std::string node, node_uid;
};

// The fingerprint of the findings from such lines.
[[nodiscard]] std::string fingerprint_of_lines(const std::string& node);

class AnsweringPlaces final : public http::Client {
 public:
  AnsweringPlaces(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {}

  // Kernels write lines, and servers begin to fail.
  void do_something();
  [[nodiscard]] const std::vector<KernelLine>& lines() const { return lines_; }

  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  enum class Place : std::uint8_t { kPrometheus, kAlertmanager, kLoki };
  enum class Fault : std::uint8_t { kNone, kSilent, kRefuses, kCut, kEmpty, kPart };
  struct Trouble {
    Fault fault = Fault::kNone;
    Clock::Steady until{};
    Clock::Steady quiet_until{};  // it is not empty again before: an alert was seen meanwhile
  };

  void write_lines();
  void begin_trouble();
  [[nodiscard]] Trouble& trouble_of(Place place) {
    return troubles_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] std::string alerts_in_alertmanager() const;
  [[nodiscard]] std::string alerts_in_prometheus(bool asks_all, bool is_part) const;
  [[nodiscard]] std::string lines_in_loki(const std::string& url) const;

  Stage& stage_;
  Fleet& fleet_;
  std::array<Trouble, 3> troubles_;
  std::vector<KernelLine> lines_;
};

}  // namespace gpuward::remediator::simulation
