#include "exporter/exporter.h"

#include <algorithm>
#include <utility>

#include "core/http/server/web_config.h"
#include "exporter/checks/preflight.h"
#include "exporter/config/identity.h"
#include "exporter/gpu/scenario.h"
#include "exporter/host/boot.h"
#include "exporter/host/pci.h"
#include "exporter/kernel_log/open_source.h"
#include "exporter/publish/web.h"
#include "exporter/watch/gpu_source.h"

namespace gpuward::exporter {
namespace {

// The longest wait for the Node before the first GPU is opened.
constexpr std::chrono::seconds kLongestWaitForNode{3};

// Checks whether the GPUs can be simulated from this file. Without a file, errors of the driver
// only show up later.
Status check_scenario(const Flags& flags) {
  if (flags.gpu_simulate_file.empty()) return {};
  const auto report = read_scenario(flags.gpu_simulate_file);
  return report ? Status() : std::unexpected(report.error());
}

MetricsOptions metrics_of(const Flags& flags, const Settings& settings) {
  MetricsOptions options = settings.metrics;
  options.dcgm_compat |= flags.metrics.dcgm_compat;
  options.efa_compat |= flags.metrics.efa_compat;
  options.per_link |= flags.metrics.per_link;
  options.hostname = node_name(flags);
  return options;
}

http::ServerOptions server_options(const Flags& flags, const http::WebConfig& web, Log& log) {
  http::ServerOptions options;
  options.listen_addresses = flags.listen_addresses;
  options.tls = web.tls;
  options.auth = web.auth;
  options.page_hosts = flags.page_hosts;
  options.page_hosts.push_back(node_name(flags));
  options.on_problem = [&log](const std::string& problem) {
    log.error("The web server reports a problem", {{"problem", problem}});
  };
  return options;
}

AmdHealthOptions amd_health_options(const Flags& flags, const Settings& settings) {
  const AmdHealthSettings& health = settings.amd_health;
  AmdHealthOptions options;
  options.socket = health.socket;
  options.vendors = health.has_all_vendors ? HealthVendors::kAll : HealthVendors::kAmdOnly;
  options.is_by_default = !health.is_enabled;
  options.may_pretend_errors = flags.may_inject;
  return options;
}

std::vector<CheckEntry> enabled_checks(const CheckSettings& settings) {
  std::vector<CheckEntry> enabled = with_programs(all_checks(), settings);
  std::erase_if(enabled, [&](const CheckEntry& entry) { return !is_enabled(entry, settings); });
  return enabled;
}

Result<std::unique_ptr<http::Client>> loki_client(const Flags& flags) {
  auto client = http::AuthorizedClient::open(flags.loki.files, flags.loki.push_url);
  if (!client) return std::unexpected(client.error());
  return *std::move(client);
}

StateFile::Loaded load_state(const StateFile& file, Log& log) {
  auto loaded = file.load();
  if (loaded.fault.empty()) return loaded;
  log.error(loaded.is_previous ? "Cannot read saved state, using the previous copy"
                               : "Cannot read saved state, counters restart from zero",
            {{"error", loaded.fault}});
  return loaded;
}

Health::StateFound found_as(const StateFile::Loaded& loaded) {
  if (loaded.fault.empty()) return Health::StateFound::kReadable;
  return loaded.is_previous ? Health::StateFound::kPreviousCopy : Health::StateFound::kLost;
}

}  // namespace

Result<std::unique_ptr<Exporter>> Exporter::start(const Flags& flags, Clock& clock, Log& log) {
  auto settings = read_settings(flags);
  if (!settings) return std::unexpected(settings.error());
  if (auto status = check_scenario(flags); !status) return std::unexpected(status.error());
  const auto web = http::load_web_config(flags.web_config_file);
  if (!web) return std::unexpected(web.error());
  if (settings->log_level) log.set_level(*settings->log_level);
  const StateFile file(flags.state_path);
  auto loaded = load_state(file, log);
  const auto state_found = found_as(loaded);
  std::unique_ptr<Exporter> exporter(
      new Exporter(flags, *std::move(settings), std::move(loaded.state), clock, log));
  exporter->store_.update_health([&](Health& health) { health.state_found = state_found; });
  if (auto serving = exporter->serve(flags, *web); !serving)
    return std::unexpected(serving.error());
  return exporter;
}

Exporter::Exporter(const Flags& flags, Settings settings, State state, Clock& clock, Log& log)
    : clock_(clock),
      log_(log),
      settings_sources_(settings_sources(flags)),
      clear_requests_(flags.state_path),
      policy_(std::move(settings)),
      store_(std::move(state)),
      drills_(flags.state_path, store_, policy_, clock, log),
      gpu_check_(node_trees(flags), policy_, clock) {
  for (const auto& path : {flags.config_file, flags.gpu_simulate_file}) {
    if (!path.empty()) watches_.emplace_back(path);
  }
  watches_.emplace_back(policy_.get()->settings.amd_config);
  for (const auto& path : flags.npd_configs) watches_.emplace_back(path);
  if (flags.config_folder.empty()) return;
  watches_.emplace_back(flags.config_folder);  // a ConfigMap is replaced as a folder
  for (const std::string_view key : seed_keys()) watches_.emplace_back(flags.config_folder / key);
}

Status Exporter::serve(const Flags& flags, const http::WebConfig& web) {
  const Boot boot = read_boot(flags.host);
  const std::string& boot_id = boot.id;
  FindingEvents known(store_.snapshot());
  store_.enter_boot(boot_id, clock_.wall());
  store_.enter_machine(machine_of(flags));
  store_.update_health([&](Health& health) { health.last_good_reload = clock_.wall(); });
  releases_ = std::make_unique<GpuReleases>(flags.state_path, boot_id, store_, clock_, log_);
  if (auto watching = watch_gpus(flags); !watching) return watching;
  if (auto opened = open_loki(flags); !opened) return opened;
  publisher_ = std::make_unique<Publisher>(
      store_, clock_, [this] { return policy_.get()->catalogue; },
      metrics_of(flags, policy_.get()->settings));
  auto server = http::Server::start(
      server_options(flags, web, log_),
      web_routes(*publisher_, store_, node_name(flags), web.access_to_metrics()));
  if (!server) return std::unexpected(server.error());
  server_ = *std::move(server);
  auto health = http::serve_health(flags.health_addresses, health_routes(store_));
  if (!health) return std::unexpected(health.error());
  health_ = *std::move(health);
  // Not earlier, because a start that fails must not move the position. Requests come before the
  // first record, so that they cannot clear findings that no operator has seen yet.
  take_clear_requests();
  saver_ = std::make_unique<StateSaver>(store_, StateFile(flags.state_path), clock_, log_);
  kernel_log_ = std::make_unique<KernelLogWatcher>(
      open_kernel_log(policy_.get()->settings.kernel_log_path, boot_id, store_.state().position,
                      {.now = clock_.wall(), .booted = boot.time}, clock_),
      store_, policy_, clock_, log_,
      [this, host = node_trees(flags)] { return gpu_addresses(store_.snapshot(), host); },
      tap_for_loki());
  watch_the_rest(flags, boot_id, std::move(known));
  return {};
}

Status Exporter::open_loki(const Flags& flags) {
  if (flags.loki.push_url.empty()) return {};
  auto client = loki_client(flags);
  if (!client) return std::unexpected(client.error());
  const LokiTarget target{
      .url = flags.loki.push_url, .tenant = flags.loki.tenant, .node = node_name(flags)};
  loki_ = std::make_unique<LokiPusher>(target, *std::move(client), store_, clock_, log_);
  return {};
}

KernelLogWatcher::Tap Exporter::tap_for_loki() {
  if (!loki_) return {};
  return [this](std::string_view text, WallTime at) { loki_->offer(text, at); };
}

Status Exporter::watch_gpus(const Flags& flags) {
  auto times = [this]() -> GpuTimes {
    const CheckSettings& checks = policy_.get()->settings.checks;
    return {checks.gpu_interval, checks.gpu_timeout};
  };
  auto source = make_gpu_source(flags, std::move(times), clock_, log_);
  if (!source) return std::unexpected(source.error());
  (*source)->set_released(store_.health().release.has_value());
  gpus_ = std::make_unique<GpuWatcher>(
      *std::move(source), store_, policy_, clock_, log_,
      [this](const Snapshot& snapshot) { return gpu_check_.run(snapshot); },
      [module = node_trees(flags).sys / "module/nvidia"] {
        std::error_code failed;
        return std::filesystem::exists(module, failed);
      });
  return {};
}

void Exporter::watch_the_rest(const Flags& flags, const std::string& boot_id, FindingEvents known) {
  const auto policy = policy_.get();
  log_preflight(enabled_checks(policy->settings.checks), policy->settings.checks, log_);
  RunnerOptions options;
  options.node_name = node_name(flags);
  options.host_name = host_name();
  options.host = node_trees(flags);
  options.state_folder = flags.state_path;
  options.settings = [this]() -> std::shared_ptr<const CheckSettings> {
    const auto current = policy_.get();
    return {current, &current->settings.checks};
  };
  options.objection = ask_for_maintenance(flags, clock_);
  // Before the first write to the node, so that the store knows which checks to wait for.
  checks_ = std::make_unique<CheckRunner>(std::move(options), store_, clock_, log_);
  node_ = std::make_unique<NodeLink>(flags, boot_id, policy->settings, std::move(known), store_,
                                     clock_, log_);
  opens_gpus_by_ = clock_.steady() + kLongestWaitForNode;
  host_ = std::make_unique<HostWatcher>(
      node_trees(flags),
      [this, machine = machine_of(flags)](const std::string& configured) {
        return named_by_firmware(
            learn_instance_type(configured, [this] { return node_->instance_type(); }), machine,
            policy_.get()->settings.checks.profiles);
      },
      store_, policy_, clock_, log_);
  announcements_ = std::make_unique<AnnouncementWatcher>(
      node_trees(flags), std::make_unique<http::CurlClient>(), store_, policy_, clock_, log_);
  if (const auto& socket = policy->settings.kubelet_socket; !socket.empty()) {
    pods_ = std::make_unique<PodResourcesWatcher>(std::make_unique<Kubelet>(socket), store_, clock_,
                                                  log_);
  }
  const auto& serves_amd = policy->settings.amd_health.is_enabled;
  if (serves_amd ? *serves_amd : has_amd_accelerator(node_trees(flags))) {
    amd_health_ = std::make_unique<AmdHealthService>(
        amd_health_options(flags, policy->settings), store_,
        [this] { return policy_.get()->settings.amd_thresholds.by_field; }, clock_, log_);
  }
}

void Exporter::reload() {
  gpus_->hurry();
  if (pods_) pods_->hurry();
  auto settings = load_settings(settings_sources_);
  if (!settings) {
    log_.error("Configuration rejected, keeping the previous one",
               {{"error", settings.error().message}});
    store_.update_health([](Health& health) { health.was_last_reload_good = false; });
    return;
  }
  settings->kernel_log_path = policy_.get()->settings.kernel_log_path;  // needs a restart
  if (settings->log_level) log_.set_level(*settings->log_level);
  node_->configure(*settings);
  policy_.set(*std::move(settings));
  store_.update_health([&](Health& health) {
    health.was_last_reload_good = true;
    health.last_good_reload = clock_.wall();
  });
  store_.touch();
  log_.info("Reloaded configuration", {{"file", settings_sources_.file.string()},
                                       {"folder", settings_sources_.folder.string()}});
}

void Exporter::tick() {
  bool has_changed = false;
  for (FileWatch& watch : watches_) has_changed |= watch.changed();
  if (has_changed) reload();
  take_clear_requests();
  drills_.tick();
  release_gpus();
  store_.expire(clock_.wall(), policy_.get()->settings.findings_age);
}

// Releases the GPUs while a request or a label of the Node asks for them, and answers once neither
// the worker nor a check holds one. Opens none before the Node was read once, because an upgrade
// may be in progress.
void Exporter::release_gpus() {
  constexpr std::chrono::milliseconds kLook{20};
  constexpr std::chrono::milliseconds kLongestWait{700};
  const bool was_wanted = store_.health().release.has_value();
  const auto by = std::min(clock_.steady() + kLongestWait, opens_gpus_by_);
  while (!node_->has_answer() && clock_.steady() < by) clock_.sleep_for(kLook, {});
  const bool may_open = node_->has_answer() || clock_.steady() >= opens_gpus_by_;
  const bool is_wanted = releases_->tick(node_->asking_label());
  gpus_->set_released(is_wanted);
  if (may_open || is_wanted) gpus_->begin();
  const auto holds_none = [this] { return gpus_->has_let_go() && checks_->running() == 0; };
  // A healthy worker ends within this tick, so that the requester need not wait for the next.
  const auto deadline = clock_.steady() + kLongestWait;
  for (checks_->tick(); is_wanted && !was_wanted && !holds_none(); checks_->tick()) {
    if (clock_.steady() >= deadline) break;
    clock_.sleep_for(kLook, {});
  }
  releases_->confirm(holds_none());
}

bool Exporter::wants_restart() const {
  const auto lost = store_.health().lost_library;
  if (lost) log_.error("Driver library no longer works, restarting", {{"error", *lost}});
  return lost.has_value();
}

void Exporter::take_clear_requests() {
  ClearRequests::Taken taken = clear_requests_.take();
  if (!taken.fault.empty() && taken.fault != clear_fault_) {
    log_.error("Cannot read request to clear findings", {{"error", taken.fault}});
  }
  clear_fault_ = std::move(taken.fault);
  for (const ClearRequest& request : taken.requests) {
    const auto cleared = store_.clear(request, clock_.wall());
    drills_.clear(request);
    // A diagnostic that passes usually has nothing to clear.
    if (cleared.empty() && !request.passed_diagnostic && !request.passed_for_operator)
      log_.warn("Request to clear findings matched none");
    for (const Finding& finding : cleared) {
      log_.warn("Cleared finding on request",
                {{"check", finding.check},
                 {"code", finding.code},
                 {"pci_bus_id", finding.pci_bus_id},
                 {"severity", std::string(to_string(finding.severity))},
                 {"evidence", std::string(to_string(finding.evidence))}});
    }
  }
}

Status check_configuration(const Flags& flags) {
  if (auto settings = read_settings(flags); !settings) return std::unexpected(settings.error());
  const auto web = http::load_web_config(flags.web_config_file);
  if (!web) return std::unexpected(web.error());
  if (auto opens = http::Server::check(web->tls, web->auth); !opens) return opens;
  if (const auto loki = loki_client(flags); !loki) return std::unexpected(loki.error());
  return check_scenario(flags);
}

}  // namespace gpuward::exporter
