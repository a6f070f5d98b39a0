// What must be true of evidence, whoever says it: what fires in any place is known in time, no line
// of a log is lost, and nothing ends while its place has it.
#pragma once

#include "tests/simulation/places.h"

namespace gpuward::remediator::simulation {

class SourceRules {
 public:
  // The rule about what is written lasts as long as `stage`.
  SourceRules(Stage& stage, const Fleet& fleet, const AnsweringPlaces& places);

  // What others than our own rules say of the node is known, since `calm` or later.
  void check_known(const Machine& machine, WallTime calm, std::chrono::minutes in_time) const;
  // Once all is at rest.
  void check_lines(const Machine& machine) const;
  // Loki is read from here on: a leader has written down how far it is.
  void note_cursor();

 private:
  void check_ended(const Remediation& after, const AlertEvidence& before) const;
  [[nodiscard]] bool is_believed(const AlertEvidence& alert) const;
  [[nodiscard]] bool still_says(const Remediation& owner, const AlertEvidence& alert) const;
  [[nodiscard]] bool is_known(const kube::Node& node, std::string_view fingerprint) const;

  Stage& stage_;
  const Fleet& fleet_;
  const AnsweringPlaces& places_;
  std::optional<WallTime> reads_since_;
};

}  // namespace gpuward::remediator::simulation
