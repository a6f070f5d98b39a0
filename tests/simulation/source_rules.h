// Rules for the evidence of every source: a record has each firing alert in time, no line of a log
// is lost, and no alert ends while its source still reports it.
#pragma once

#include "tests/simulation/places.h"

namespace gpuward::remediator::simulation {

class SourceRules {
 public:
  // Adds a rule to `stage`, which lasts as long as it.
  SourceRules(Stage& stage, const Fleet& fleet, const AnsweringPlaces& places);

  // Records have what other rules report of the node, since `calm` or later.
  void check_known(const Machine& machine, WallTime calm, std::chrono::minutes in_time) const;
  // Called at rest.
  void check_lines(const Machine& machine) const;
  // From here on Loki is read: a leader has written its position in the log.
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
