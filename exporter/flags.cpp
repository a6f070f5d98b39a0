#include "exporter/flags.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "core/command_line/completion.h"
#include "core/command_line/output_option.h"
#include "core/model/pci_address.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/exit_code.h"
#include "exporter/flag_examples.h"
#include "exporter/flags_nccl_pair.h"

namespace gpuward::exporter {
namespace {

// As AMD's exporter takes its switch.
bool is_yes(std::string_view text) {
  const std::string word = CLI::detail::to_lower(std::string(trim(text)));
  return word == "1" || word == "true" || word == "yes" || word == "on";
}

void add_gpu_flags(CLI::App& app, Flags& flags) {
  auto* simulate = app.add_option("--gpu.simulate", flags.gpu_simulate_file,
                                  "Take the GPUs from this YAML file");
  app.add_flag("--gpu.none", flags.has_no_gpus, "Ask no driver: the kernel log alone counts")
      ->excludes(simulate);
  app.add_option("--gpu.nvml-library", flags.libraries.nvml, "NVIDIA's library, as dlopen takes it")
      ->capture_default_str();
  app.add_option("--gpu.amd-smi-library", flags.libraries.amd_smi,
                 "AMD's library, as dlopen takes it")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--gpu.amd-cper",
         [&flags](const std::string& word) { flags.libraries.reads_amd_cper = is_yes(word); },
         "Read AMD's error records: 1, true, yes or on; anything else: do not")
      ->default_str("on")
      ->envname("AMD_METRICS_EXPORTER_ENABLE_CPER");
}

// What the exporter tells its worker, and nobody else.
void add_gpu_choice(CLI::App& gpu_worker, GpuChoice& choice) {
  const CLI::Validator is_name(
      [](const std::string& text) {
        return parse_gpu_name(text) ? std::string() : text + " is no GPU";
      },
      "GPU");
  gpu_worker
      .add_option_function<std::vector<std::string>>(
          "--gpu.leave-out",
          [&choice](const std::vector<std::string>& names) {
            for (const std::string& name : names) choice.left_out.push_back(*parse_gpu_name(name));
          },
          "Do not ask this GPU: INDEX@PCI, may be repeated")
      ->check(is_name);
  gpu_worker
      .add_option_function<std::string>(
          "--gpu.only", [&choice](const std::string& name) { choice.only = parse_gpu_name(name); },
          "Ask this GPU alone: INDEX@PCI")
      ->check(is_name);
}

// Under these the container sees the node.
void add_path_flags(CLI::App& app, Flags& flags) {
  app.add_option("--path.procfs", flags.host.proc, "Where the node's /proc is")
      ->capture_default_str();
  app.add_option("--path.sysfs", flags.host.sys, "Where the node's /sys is")->capture_default_str();
  app.add_option("--path.dev", flags.host.dev, "Where the node's /dev is")->capture_default_str();
}

void add_node_flags(CLI::App& app, Flags& flags) {
  app.add_option("--node.name", flags.node_name,
                 "Name of this node in Kubernetes; without it nothing is written to the node")
      ->envname("NODE_NAME");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "Where the API server is; in a pod its service account by default");
  app.add_option("--context", flags.kube_context, "Context of the kubeconfig");
}

void add_metrics_flags(CLI::App& app, Flags& flags) {
  app.add_flag("--metrics.dcgm-compat", flags.metrics.dcgm_compat,
               "Serve the names and labels of dcgm-exporter too");
  app.add_flag("--metrics.efa-compat", flags.metrics.efa_compat,
               "Serve the names of the EFA node exporter too");
  app.add_flag("--metrics.per-link", flags.metrics.per_link,
               "Serve a series for each NVLink or XGMI link too");
}

void add_flags(CLI::App& app, Flags& flags, std::string& level, std::string& format) {
  app.add_option("--web.listen-address", flags.listen_addresses,
                 "Address to serve on, may be repeated: `:10980`, `127.0.0.1:10980`, `[::1]:10980`")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  app.add_option("--web.config.file", flags.web_config_file, "YAML file with TLS and credentials");
  app.add_option("--config.file", flags.config_file, "YAML file with severities and the rest");
  app.add_option("--config.directory", flags.config_folder,
                 "Folder with a file for each setting of the suite that gpuward replaces, as a "
                 "ConfigMap is mounted: CHECK_INTERVAL, ENABLE_TAINT, instance-profiles.conf, ...");
  app.add_option("--kernel-log.path", flags.kernel_log_path,
                 "Kernel log: /dev/kmsg (default), or any file or FIFO");
  add_gpu_flags(app, flags);
  add_path_flags(app, flags);
  add_node_flags(app, flags);
  add_metrics_flags(app, flags);
  app.add_option("--state.path", flags.state_path, "Folder of what must survive a restart")
      ->capture_default_str();
  app.add_flag("--debug.allow-injection", flags.may_inject,
               "Let AMD's health service pretend errors; for tests");
  app.add_option("--log.level", level, "debug, info, warn or error")->capture_default_str();
  app.add_option("--log.format", format, "logfmt or json")->capture_default_str();
}

// --json is what it was called before there was a choice.
void add_formats(CLI::App& command, OutputFormat& format) {
  CLI::Option* output = add_output_option(command, format);
  command
      .add_flag_callback(
          "--json", [&format] { format = OutputFormat::kJson; }, "The same as -o json")
      ->excludes(output);
}

// With fallthrough, so that --state.path may stand behind the words.
CLI::App* add_clear(CLI::App& findings, Flags& flags) {
  CLI::App* clear = findings.add_subcommand(
      "clear", "Declare findings repaired: they go within a second, counters stay");
  clear->fallthrough();
  auto* all = clear->add_flag("--all-operator", flags.clear.all_operator,
                              "All that only diagnostics or an operator clear");
  auto* reset = clear
                    ->add_flag("--after-gpu-reset", flags.clear.after_gpu_reset,
                               "All that a GPU reset clears, with --pci of that GPU alone")
                    ->excludes(all);
  clear->add_option("--check", flags.clear.check, "Its check, as gpuward_finding says: `xid`")
      ->excludes(all)
      ->excludes(reset);
  clear->add_option("--code", flags.clear.code, "Its code: `64`")->excludes(all)->excludes(reset);
  clear->add_option("--pci", flags.clear.pci_bus_id, "Its device: `0000:4e:00`")
      ->excludes(all)
      ->check([](const std::string& text) {
        return parse_pci_address(text) ? std::string() : text + " is no PCI address";
      });
  clear->require_option(1, 3);
  return clear;
}

struct FindingsCommands {
  const CLI::App* list;
  const CLI::App* clear;
};

FindingsCommands add_findings(CLI::App& app, Flags& flags) {
  CLI::App* findings =
      app.add_subcommand("findings", "What the exporter of --state.path holds against the node");
  findings->fallthrough();
  findings->require_subcommand(1);
  CLI::App* list = findings->add_subcommand("list", "Print them, the worst first");
  list->fallthrough();
  add_formats(*list, flags.findings_output);
  return {list, add_clear(*findings, flags)};
}

CLI::App* add_check(CLI::App& app, CheckRequest& request, double& timeout_seconds) {
  CLI::App* check = app.add_subcommand("check", "Run checks now, say what they found, and exit");
  check->fallthrough();
  auto* suite = check->add_option("--suite", request.suite, "lightweight or intensive");
  auto* one = check->add_option("--check", request.check, "One check: 0 to 6, or its name")
                  ->excludes(suite);
  check->add_flag("--prolog", request.is_prolog, "The checks before a batch job")
      ->excludes(suite)
      ->excludes(one);
  add_formats(*check, request.output);
  check->add_flag("--exclusive", request.is_exclusive,
                  "The node is idle: needed by checks that load the GPUs");
  check->add_flag("--dry-run", request.is_dry_run, "Say what would run, and run nothing");
  check->add_option("--results-dir", request.results_dir, "Folder for a JSON file of each check");
  check->add_option(
      "--termination-log", request.termination_log,
      "File for the last check's JSON object: the container's terminationMessagePath");
  check->add_option("--timeout", timeout_seconds, "Of each check, in seconds")
      ->check(CLI::Range(1.0, 1e6));
  return check;
}

void add_progress(CLI::App& command, ProgressWish& progress) {
  command
      .add_option_function<std::string>(
          "--progress",
          [&progress](const std::string& word) {
            progress = parse_progress_wish(word).value_or(ProgressWish::kAuto);
          },
          "On stderr: auto (one line written over on a terminal, else plain lines), plain or off")
      ->check(CLI::IsMember({"auto", "plain", "off"}))
      ->default_str("auto");
}

CLI::App* add_sweep(CLI::App& app, SweepOptions& sweep, std::string& job_template) {
  CLI::App* command =
      app.add_subcommand("sweep", "Run check 1 on idle GPU nodes, a few at a time, and exit");
  command->fallthrough();
  command->add_option("--node-selector", sweep.selector, "Labels of the nodes")
      ->capture_default_str();
  command->add_option("--job-template", job_template, "JSON file of the Job to run on each node")
      ->check(CLI::ExistingFile);
  return command;
}

CLI::App* add_quarantine(CLI::App& app, Flags& flags) {
  CLI::App* command = app.add_subcommand(
      "quarantine", "Run checks 4 and 6 on this cordoned node, say on it what to do, and exit");
  command->fallthrough();
  command
      ->add_option("--checks", flags.quarantine_checks, "Others of 4, 5 and 6: `5` is NCCL alone")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Range(4, 6));
  command->add_flag("--clear-latched", flags.clears_latched,
                    "A pass also clears what only an operator clears: an Xid in the log");
  command->add_flag("--force", flags.is_quarantine_forced,
                    "Also on a node that is not cordoned: nothing may run there");
  return command;
}

// What the commands give beside Flags.
struct CommandWords {
  double check_timeout_seconds = 0;  // 0: as the settings say
  std::string job_template;
};

// An empty text where the file could be read, or was not named.
std::string take_words(const CommandWords& words, Flags& flags) {
  if (words.check_timeout_seconds > 0) {
    flags.check.timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(words.check_timeout_seconds * 1000));
  }
  if (words.job_template.empty()) return {};
  auto text = read_file(words.job_template);
  if (!text) return text.error().message;
  flags.sweep.job.job_template = *std::move(text);
  return {};
}

}  // namespace

std::variant<Flags, int> parse_flags(int argc, const char* const* argv) {
  Flags flags;
  std::string level = "info";
  std::string format = "logfmt";
  bool check_config = false;
  CLI::App app(
      "Says what the kernel log and the driver know about this node's GPUs, as Prometheus metrics.",
      "gpuward-exporter");
  // A flag given twice: the last one wins, as in an overlay that adds to a manifest's arguments.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_flags(app, flags, level, format);
  app.add_flag("--check-config", check_config,
               "Read all configuration files, say what is wrong, and exit");
  app.set_version_flag("--version", "gpuward-exporter " GPUWARD_VERSION);
  const CLI::App* parse_log = app.add_subcommand(
      "parse-log", "Read kernel-log lines on stdin, print a JSON object for each event");
  const FindingsCommands findings = add_findings(app, flags);
  CommandWords words;
  const CLI::App* check = add_check(app, flags.check, words.check_timeout_seconds);
  CLI::App* sweep = add_sweep(app, flags.sweep, words.job_template);
  add_progress(*sweep, flags.progress);
  CLI::App* quarantine = add_quarantine(app, flags);
  add_progress(*quarantine, flags.progress);
  const CLI::App* nccl_pair = add_nccl_pair(app, flags.nccl_pair);
  CLI::App* gpu_users =
      app.add_subcommand("gpu-users", "Print which processes have an NVIDIA GPU open");
  gpu_users->fallthrough();
  CLI::App* gpu_worker = app.add_subcommand("gpu-worker", "What the exporter starts for itself");
  gpu_worker->group("")->fallthrough();
  add_gpu_choice(*gpu_worker, flags.libraries.choice);
  std::string shell;
  add_completion_command(app, shell);
  add_examples(app, kExamples);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  if (!shell.empty()) {
    std::cout << completion_script(app, shell);
    return 0;
  }
  const bool names_something =
      flags.clear.all_operator || flags.clear.after_gpu_reset || !flags.clear.check.empty();
  if (findings.clear->parsed() && !names_something) {
    std::cerr << "gpuward-exporter: findings clear: give --check, --after-gpu-reset or "
                 "--all-operator\n";
    return kWrongUsage;
  }
  if (const auto pci = parse_pci_address(flags.clear.pci_bus_id)) {
    flags.clear.pci_bus_id = pci->bus_id();
  }
  const auto log_level = parse_log_level(level);
  const auto log_format = parse_log_format(format);
  if (!log_level || !log_format) {
    std::cerr << "gpuward-exporter: "
              << (log_level ? "--log.format: " + log_format.error().message
                            : "--log.level: " + log_level.error().message)
              << "\n";
    return kWrongUsage;
  }
  if (const std::string fault = take_words(words, flags); !fault.empty()) {
    std::cerr << "gpuward-exporter: --job-template: " << fault << "\n";
    return kWrongUsage;
  }
  if (check->parsed()) flags.command = Command::kCheck;
  if (sweep->parsed()) flags.command = Command::kSweep;
  if (quarantine->parsed()) flags.command = Command::kQuarantine;
  if (nccl_pair->parsed()) flags.command = Command::kNcclPair;
  if (gpu_users->parsed()) flags.command = Command::kGpuUsers;
  flags.libraries.sys = flags.host.sys;
  flags.log_level = *log_level;
  flags.log_format = *log_format;
  if (check_config) flags.command = Command::kCheckConfig;
  if (parse_log->parsed()) flags.command = Command::kParseLog;
  if (gpu_worker->parsed()) flags.command = Command::kGpuWorker;
  if (findings.list->parsed()) flags.command = Command::kListFindings;
  if (findings.clear->parsed()) flags.command = Command::kClearFindings;
  return flags;
}

}  // namespace gpuward::exporter
