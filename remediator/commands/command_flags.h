// What a command of gpuwardctl was asked: the words of its command line as plain values. Filled by
// ctl/words.cpp, read by the commands.
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
  std::string subject = {};  // a node or an instance
  std::chrono::milliseconds lasts = std::chrono::minutes(30);
  std::string reason = {};
  std::string file = {};  // of import
};

struct ListFlags {
  std::vector<std::string> names = {};  // of nodes or Remediations; none: all
  bool is_all = false;                  // closed ones too
  std::string selector = {};            // of labels, as the API server takes it
  std::string sort_by = {};             // a path (json_path.h); empty: open ones first
  bool has_no_headers = false;
};

struct ReplayFlags {
  std::string history = {}, nodes = {};  // files
  std::string prometheus_url = {};
  http::ClientFiles prometheus_files = {};  // who we are to it
  std::chrono::milliseconds since = std::chrono::hours(24 * 7);
  bool approves_all = false;
};

struct CommandFlags {
  std::string kubeconfig, context;
  // The user and groups to act as (impersonation); empty: those of the kubeconfig's credential.
  std::string as_user;
  std::vector<std::string> as_groups;
  std::chrono::milliseconds request_timeout{2'000};  // for the API server's first answer
  // As the kubeconfig calls who we are: once it is read, for a server that does not say it.
  std::string context_user;
  // Of the remediator: where its lease, ledger and stop switch are.
  std::string state_namespace = "gpuward";
  OutputFormat output = OutputFormat::kTable;
  bool watches = false;               // of list and status: print it again when it changes
  std::chrono::milliseconds wait{0};  // of doctor: how long it may take until all is connected
  bool exit_code = false;             // of status: fail if something is not in order
  std::string node;                   // of the commands about one node
  std::string token;                  // of approve
  std::string reason;                 // of stop
  std::string alert;                  // of runbook; empty: which there are
  std::filesystem::path policy_file;  // of policy and replay
  std::optional<Mode> mode;           // of these; wins over the file's
  kube::Labels labels;                // of policy explain: those of a node that need not exist
  std::optional<Severity> severity;   // of policy explain; none: all
  ExclusionFlags exclusion;
  ListFlags list;
  ReplayFlags replay;
  std::string taint{kTaintKey};                // of reset
  bool cancels = false;                        // of reset
  bool dry_run = false, is_confirmed = false;  // of the commands that ask first
  // The changes of reset that the operator has seen (Foreseen::changes); nullopt: all are allowed.
  std::optional<std::set<std::string>> allowed = {};
};

// What a command that takes something away would do, and how it asks before.
struct Foreseen {
  std::string text;
  bool is_any = true;    // false: nothing; the text says why
  bool all_done = true;  // false: a part was refused
  // Replaces `node` when the command runs, so that it changes no other Remediation.
  std::string remediation = {};
  // Each change of a command about many nodes, so that it makes no other one.
  std::set<std::string> changes = {};
};

}  // namespace gpuward::remediator
