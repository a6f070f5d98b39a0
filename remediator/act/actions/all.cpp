#include <array>
#include <memory>

#include "remediator/act/actions/collect_evidence_action.h"
#include "remediator/act/actions/drain_action.h"
#include "remediator/act/actions/gpu_reset_action.h"
#include "remediator/act/actions/nccl_pairs_action.h"
#include "remediator/act/actions/notify_action.h"
#include "remediator/act/actions/out_of_service_action.h"
#include "remediator/act/actions/quarantine_job_action.h"
#include "remediator/act/actions/reboot_action.h"
#include "remediator/act/actions/restart_job_action.h"
#include "remediator/act/actions/step_table.h"
#include "remediator/act/actions/terminate_action.h"
#include "remediator/act/actions/verify_action.h"

namespace gpuward::remediator {
namespace {

template <typename Action>
std::unique_ptr<StepAction> make_job(const StepServices& services) {
  return std::make_unique<Action>(services.api, services.policy);
}
std::unique_ptr<StepAction> make_out_of_service(const StepServices& services) {
  return std::make_unique<OutOfServiceAction>(services.api, services.proofs);
}
std::unique_ptr<StepAction> make_drain(const StepServices& services) {
  return std::make_unique<DrainAction>(services.drainer, services.own_pod);
}
std::unique_ptr<StepAction> make_restart_job(const StepServices& services) {
  return std::make_unique<RestartJobAction>(services.api);
}
std::unique_ptr<StepAction> make_reboot(const StepServices& services) {
  return std::make_unique<RebootAction>(services.machines, services.api, services.policy);
}
std::unique_ptr<StepAction> make_terminate(const StepServices& services) {
  return std::make_unique<TerminateAction>(services.api, services.machines, services.policy);
}
std::unique_ptr<StepAction> make_nccl_pairs(const StepServices& services) {
  return std::make_unique<NcclPairsAction>(services.api, services.policy, services.seen);
}
std::unique_ptr<StepAction> make_notify(const StepServices&) {
  return std::make_unique<NotifyAction>();
}
std::unique_ptr<StepAction> make_verify(const StepServices& services) {
  return std::make_unique<VerifyAction>(services.reports, services.policy, services.replacements);
}

struct StepEntry {
  Step step;
  std::unique_ptr<StepAction> (*make)(const StepServices& services);
};

constinit const std::array<StepEntry, 12> kSteps = {{
    {Step::kCollectEvidence, make_job<CollectEvidenceAction>},
    {Step::kOutOfService, make_out_of_service},
    {Step::kDrain, make_drain},
    {Step::kRestartJob, make_restart_job},
    {Step::kGpuReset, make_job<GpuResetAction>},
    {Step::kReboot, make_reboot},
    {Step::kQuarantineJob, make_job<QuarantineJobAction>},
    {Step::kNcclTest, make_job<QuarantineJobAction>},
    {Step::kNcclPairs, make_nccl_pairs},
    {Step::kTerminate, make_terminate},
    {Step::kVerify, make_verify},
    {Step::kNotify, make_notify},
}};

}  // namespace

StepAction* find_step(const StepTable& steps, Step step) {
  const auto found = steps.find(step);
  return found == steps.end() ? nullptr : found->second.get();
}

StepTable make_steps(const StepServices& services) {
  StepTable table;
  for (const StepEntry& entry : kSteps) table.emplace(entry.step, entry.make(services));
  return table;
}

}  // namespace gpuward::remediator
