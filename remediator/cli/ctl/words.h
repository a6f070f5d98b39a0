// The arguments and flags of gpuwardctl's commands, for the table in commands.cpp. An invalid
// argument is rejected like any wrong command line. `flags` must outlive the command.
#pragma once

#include <CLI/CLI.hpp>

#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

// The type of a node argument in --help; the completion offers nodes for it.
inline constexpr const char* kNodeType = "NODE";
inline constexpr const char* kAlertType = "ALERT";             // the same for alerts
inline constexpr const char* kClusterGroup = "Which cluster";  // of flags, in --help

// Adds the flags of all commands: the cluster and the namespace.
void add_cluster_words(CLI::App& app, CommandFlags& flags);

void add_status_words(CLI::App& command, CommandFlags& flags);
void add_list_words(CLI::App& command, CommandFlags& flags);
void add_doctor_words(CLI::App& command, CommandFlags& flags);
void add_output_words(CLI::App& command, CommandFlags& flags);
void add_node_words(CLI::App& command, CommandFlags& flags);
void add_explain_words(CLI::App& command, CommandFlags& flags);
void add_approve_words(CLI::App& command, CommandFlags& flags);
void add_stop_words(CLI::App& command, CommandFlags& flags);
void add_reset_words(CLI::App& command, CommandFlags& flags);
// For commands that ask first.
void add_confirmation_words(CLI::App& command, CommandFlags& flags);
void add_confirmed_node_words(CLI::App& command, CommandFlags& flags);
void add_exclude_words(CLI::App& command, CommandFlags& flags);
void add_excluded_words(CLI::App& command, CommandFlags& flags);
void add_import_words(CLI::App& command, CommandFlags& flags);
void add_policy_words(CLI::App& command, CommandFlags& flags);
void add_policy_explain_words(CLI::App& command, CommandFlags& flags);
void add_replay_words(CLI::App& command, CommandFlags& flags);
void add_runbook_words(CLI::App& command, CommandFlags& flags);

}  // namespace gpuward::remediator
