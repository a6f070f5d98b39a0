// Reads the lines of the kernel and of pods that node agents have sent to Loki, without gaps. It
// starts at a cursor in the cluster. Each read overlaps a little for late lines, and after an
// outage of Loki the source reads the outage again. It skips lines that it has already processed.
// All times are Loki's. Findings are foreign evidence, which justifies at most the cordon.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/clock.h"
#include "core/xid/catalogue.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/inbox/sources/line_memory.h"
#include "remediator/inbox/sources/log_cursor.h"
#include "remediator/inbox/sources/log_progress.h"
#include "remediator/inbox/sources/loki_api.h"
#include "remediator/inbox/sources/quiet_evidence.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/inbox/sources/split_records.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

struct LokiSettings {
  LokiPlace place;
  std::vector<std::string> namespaces;  // Namespaces of the pods with lines to read; empty: none.
  std::string state_namespace;          // Namespace of the cursor.
  Triage* triage = nullptr;             // Gets the lines that the catalogue does not know.
};

class LokiSource final : public Source {
 public:
  // The arguments must outlive the source. `api` refuses writes while this replica is not the
  // leader.
  LokiSource(LokiSettings settings, http::Client& http, kube::Api& api, const CurrentPolicy& policy,
             const KnownEvidence& known, Clock& clock);
  [[nodiscard]] std::string_view name() const override { return "loki"; }
  [[nodiscard]] std::chrono::milliseconds every() const override {
    return policy_.get()->loki.every;
  }
  [[nodiscard]] Result<SourceFindings> look() override;
  [[nodiscard]] Status settle() override;

 private:
  enum class Feed : std::uint8_t { kKernel, kPods };
  // The results of a read. They count once the alert signals of the read are durable.
  struct Pending {
    std::map<Feed, LogProgress> progress;
    std::vector<LineMemory::Key> lines;
    LastLines last_lines;
    std::vector<UnknownLine> unknown;
    SplitRecords records;
  };

  [[nodiscard]] static std::string name_of(Feed feed);
  [[nodiscard]] Status load();
  [[nodiscard]] Status require_only_writer();
  [[nodiscard]] std::int64_t now() const;  // Time by Loki's clock.
  [[nodiscard]] std::string query_of(Feed feed, const LokiRules& rules) const;
  [[nodiscard]] LogProgress next_of(Feed feed, std::int64_t overlap, SourceFindings& findings);
  [[nodiscard]] Status read(Feed feed, const LokiRules& rules, SourceFindings& findings);
  [[nodiscard]] Result<LokiAnswer> ask(const LokiQuestion& question);
  void ask_for_less(ErrorKind refusal);
  void take(Feed feed, const LogLine& line, const LokiRules& rules, SourceFindings& findings);
  [[nodiscard]] Status save();

  LokiSettings settings_;
  LokiApi loki_;
  kube::Api& api_;
  LogCursor cursor_;
  const CurrentPolicy& policy_;
  const KnownEvidence& known_;
  Clock& clock_;
  const xid::Catalogue catalogue_;

  bool is_loaded_ = false;
  // No other writer of konduktor's taint was found since this process started.
  bool is_only_writer_ = false;
  // True if a query has failed since the last settled read, and at the start of the process.
  bool may_be_outage_ = false;
  std::optional<Clock::Steady> writers_looked_at_;
  std::optional<Clock::Steady> looked_at_, saved_at_;
  std::int64_t read_since_ = 0;    // This process has read all lines since then, by Loki's clock.
  std::chrono::seconds ahead_{0};  // How far Loki's clock is ahead of this machine's clock.
  // Limits of a query; smaller for a while after a query that was too large.
  std::size_t limit_;
  std::chrono::nanoseconds range_;
  std::optional<Clock::Steady> asked_too_much_at_;
  std::map<Feed, LogProgress> progress_;
  LineMemory seen_;
  SplitRecords records_;
  LastLines last_lines_;
  Pending pending_;
};

}  // namespace gpuward::remediator
