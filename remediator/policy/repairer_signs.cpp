#include "remediator/policy/repairer_signs.h"

#include <algorithm>
#include <array>

namespace gpuward::remediator {
namespace {

using enum SignKind;

constexpr std::array<std::pair<SignKind, std::string_view>, 3> kKinds{
    {{kOfTaint, "taint"}, {kOfAnnotation, "annotation"}, {kOfLabel, "label"}}};

RepairerSign read_sign(const YamlMap& map) {
  RepairerSign sign;
  map.require("name", sign.who,
              "name of the program that works on the node while the sign is present");
  sign.who += " is working on the node";
  for (const auto& [kind, word] : kKinds) {
    std::string key;
    map.read(word, key,
             "key of the " + std::string(word) +
                 " that is the sign; set exactly one of taint, annotation and label");
    if (key.empty()) continue;
    if (!sign.key.empty()) map.reject(word, "set only one of taint, annotation and label");
    sign.kind = kind;
    sign.key = std::move(key);
  }
  if (sign.key.empty()) map.reject("name", "the sign needs a taint, annotation or label");
  map.read("at_rest", sign.at_rest, "values that mean that the program is idle; default: none");
  return sign;
}

}  // namespace

std::string_view to_string(SignKind kind) {
  return std::ranges::find(kKinds, kind, &std::pair<SignKind, std::string_view>::first)->second;
}

// Names and values come from each project's source, read in November 2026.
std::vector<RepairerSign> known_repairer_signs() {
  return {
      // pkg/apis/v1/taints.go of kubernetes-sigs/karpenter 1.15
      {kOfTaint, "karpenter.sh/disrupted", "Karpenter is replacing the node"},
      {kOfTaint, "karpenter.sh/rebooting", "Karpenter is rebooting the node"},
      // utils/taints/taints.go of kubernetes/autoscaler
      {kOfTaint, "ToBeDeletedByClusterAutoscaler", "the Cluster Autoscaler is removing the node"},
      {kOfTaint, "DeletionCandidateOfClusterAutoscaler",
       "the Cluster Autoscaler may remove the node"},
      // RemediateMachineAnnotation of kubernetes-sigs/cluster-api
      {kOfAnnotation, "cluster.x-k8s.io/remediate-machine",
       "Cluster API is remediating the machine"},
      // cmd/kured/main.go of kubereboot/kured; only with --annotate-nodes
      {kOfAnnotation, "weave.works/kured-reboot-in-progress", "kured is rebooting the node"},
      // pkg/daemon/constants of openshift/machine-config-operator
      {kOfAnnotation,
       "machineconfiguration.openshift.io/state",
       "the Machine Config Operator is updating the node",
       {"", "Done", "Degraded", "Unreconcilable"}},
      // medik8s: self-node-remediation, fence-agents-remediation and node-maintenance-operator;
      // keys that begin with medik8s.io are from earlier releases
      {kOfTaint, "remediation.medik8s.io/self-node-remediation",
       "medik8s' Self Node Remediation is restarting the node"},
      {kOfTaint, "remediation.medik8s.io/fence-agents-remediation",
       "medik8s' Fence Agents Remediation is restarting the node"},
      {kOfTaint, "medik8s.io/remediation", "medik8s is restarting the node"},
      {kOfTaint, "medik8s.io/fence-agents-remediation",
       "medik8s' Fence Agents Remediation is restarting the node"},
      {kOfTaint, "medik8s.io/drain", "the Node Maintenance Operator has drained the node"},
      // AKS release notes and its page about node auto-repair
      {kOfTaint, "remediator.kubernetes.azure.com/unschedulable", "AKS is repairing the node"},
      // commons/pkg/statemanager and fault-quarantine of NVIDIA/NVSentinel 1.22
      {kOfAnnotation, "quarantineHealthEvent", "NVSentinel has quarantined the node"},
      {kOfLabel, "dgxc.nvidia.com/nvsentinel-state", "NVSentinel is remediating the node", {""}},
      // internal/controllers/remediation_handler.go of ROCm/gpu-operator
      {kOfTaint, "amd-gpu-unhealthy", "AMD's GPU operator is remediating the node"},
      // pkg/upgrade/consts.go of NVIDIA/k8s-operator-libs. `upgrade-required` waits to begin: a
      // cordon would start it.
      {kOfLabel,
       "nvidia.com/gpu-driver-upgrade-state",
       "the GPU operator is upgrading the driver",
       {"", "upgrade-done", "upgrade-required", "upgrade-failed"}},
      // cmd/nvidia-mig-manager of NVIDIA/mig-parted
      {kOfLabel,
       "nvidia.com/mig.config.state",
       "the MIG manager is reconfiguring the GPUs",
       {"", "success", "failed"}},
      // AWS' page about HyperPod's node health labels
      {kOfLabel,
       "sagemaker.amazonaws.com/node-health-status",
       "HyperPod is repairing the node",
       {"", "Schedulable"}},
  };
}

std::vector<RepairerSign> read_repairer_signs(const YamlMap& section) {
  std::vector<RepairerSign> signs = known_repairer_signs();
  std::vector<std::string> ignored;
  section.read("ignore", ignored, "keys of known signs that do not apply in this cluster");
  for (const std::string& key : ignored) {
    if (std::erase_if(signs, [&](const RepairerSign& sign) { return sign.key == key; }) == 0)
      section.reject("ignore", "gpuward does not know the sign " + key);
  }
  for (const YamlMap& map :
       section.maps("signs", "signs of other programs, in addition to those that gpuward knows"))
    signs.push_back(read_sign(map));
  return signs;
}

}  // namespace gpuward::remediator
