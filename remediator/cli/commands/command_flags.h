// The command line of a gpuwardctl command as plain values. Filled by cli/ctl/words.cpp, read by
// the commands.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/command_line/output.h"
#include "core/http/client/authorized_client.h"
#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/step.h"

namespace gpuward::remediator {

struct ExclusionFlags {
  std::string subject = {};  // Name of a node or of an instance.
  std::chrono::milliseconds lasts = std::chrono::minutes(30);
  std::string reason = {};
  std::string file = {};  // File for the command import.
};

struct ListFlags {
  std::vector<std::string> names = {};  // Names of nodes or Remediations; empty: all.
  bool is_all = false;                  // Also lists closed Remediations.
  std::string selector = {};            // Label selector in the syntax of the API server.
  std::string sort_by = {};             // A path (json_path.h); empty: open Remediations first.
  bool has_no_headers = false;
};

struct ReplayFlags {
  std::string history = {}, nodes = {};  // files
  std::string prometheus_url = {};
  http::ClientFiles prometheus_files = {};  // CA and credentials for Prometheus.
  std::chrono::milliseconds since = std::chrono::hours(24 * 7);
  bool approves_all = false;
};

struct CommandFlags {
  std::string kubeconfig, context;
  // The user and groups to act as (impersonation); empty: those of the kubeconfig's credential.
  std::string as_user;
  std::vector<std::string> as_groups;
  std::chrono::milliseconds request_timeout{2'000};  // Limit for the API server's first answer.
  // The user's name in the kubeconfig, for a server that does not report a name. Set once the
  // kubeconfig is read.
  std::string context_user;
  // The namespace of the remediator's lease, ledger and stop switch.
  std::string state_namespace = "gpuward";
  OutputFormat output = OutputFormat::kTable;
  bool watches = false;               // of list and status: prints again after a change
  std::chrono::milliseconds wait{0};  // For doctor: the longest wait until all links work.
  bool exit_code = false;             // For status: fails if the fleet is not in order.
  std::string node;                   // For the commands about one node.
  std::string token;                  // For approve.
  std::string reason;                 // For stop.
  std::string alert;                  // For runbook; empty: lists all alerts.
  std::filesystem::path policy_file;  // For policy and replay.
  std::optional<Mode> mode;           // For policy and replay; overrides the mode in the file.
  kube::Labels labels;                // For policy explain: labels of a node that need not exist.
  std::optional<Severity> severity;   // For policy explain; nullopt: all severities.
  ExclusionFlags exclusion;
  ListFlags list;
  ReplayFlags replay;
  std::string taint{kTaintKey};                // For reset.
  bool cancels = false;                        // For reset.
  bool dry_run = false, is_confirmed = false;  // of the commands that ask first
  // The changes of reset that the operator has seen (Foreseen::changes); nullopt: all are allowed.
  std::optional<std::set<std::string>> allowed = {};
};

// The consequences of a command that removes something, and the question before it runs.
struct Foreseen {
  std::string text;
  bool is_any = true;    // False: there is nothing to do; the text has the reason.
  bool all_done = true;  // False: a part of the command is refused.
  // Replaces `node` when the command runs, so that it changes no other Remediation.
  std::string remediation = {};
  // Each change of a command on many nodes, so that the command makes no other change.
  std::set<std::string> changes = {};
};

}  // namespace gpuward::remediator
