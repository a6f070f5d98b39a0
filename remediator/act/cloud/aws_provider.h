// Restarts and ends machines on EC2. An instance of an Auto Scaling group is ended through its
// group, which creates a new instance. EC2 itself ends any other instance. The provider acts only
// on the instance in spec.providerID, after AWS has confirmed that this instance still belongs to
// the node. machines.aws of the policy turns the provider on. Rights:
// manifests/remediator-aws-iam.json.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "core/aws/client.h"
#include "remediator/act/cloud/ec2_instance.h"
#include "remediator/act/cloud/provider.h"

namespace gpuward::remediator {

class AwsProvider final : public CloudProvider {
 public:
  explicit AwsProvider(const ProviderParts& parts) : parts_(parts) {}
  [[nodiscard]] bool can(MachineAction action, const Machine& machine) const override;
  // Restarts the instance. If may_have_arrived() is true for the error, the error comes from the
  // action itself. If a query before the action fails in that way, the error is kBlocked and the
  // action was not requested.
  [[nodiscard]] Status reboot(const Machine& machine, const Permit& permit) override;
  [[nodiscard]] Status terminate(const Machine& machine, const Permit& permit) override;
  // Returns the state of the instance. If AWS does not know the instance, it counts as gone only if
  // this process has seen it before, because another account or region does not know it either.
  [[nodiscard]] Result<MachineFate> fate(const Machine& machine) override;
  // Returns EC2's own status checks of the system and of the instance.
  [[nodiscard]] MachineProofs proofs(const Machine& machine) override;

 private:
  // The Auto Scaling group of an instance and its lifecycle state in the group.
  struct Membership {
    // Examples of states: "InService", "Terminating:Wait", "Warmed:Terminating:Proceed".
    std::string group, state;
    [[nodiscard]] bool is_ending() const { return state.contains("Terminat"); }
    [[nodiscard]] std::string words() const {
      return "Auto Scaling group " + group + " reports the instance in lifecycle state " + state;
    }
  };

  [[nodiscard]] Result<aws::XmlElement> ask(const aws::AwsService& service,
                                            const std::string& action, const Ec2Id& id,
                                            http::Query parameters, const Permit& permit = {});
  // Returns kNotFound if AWS does not know the instance.
  [[nodiscard]] Result<Ec2Instance> describe(const Ec2Id& id);
  // Returns kRefused if the instance does not belong to this node.
  [[nodiscard]] Status check_owner(const Ec2Instance& instance, const Ec2Id& id,
                                   const Machine& machine) const;
  // Returns the group of the instance; nullopt if it is in no group.
  [[nodiscard]] Result<std::optional<Membership>> membership(const Ec2Id& id);
  // Returns kRefused for an instance with termination protection.
  [[nodiscard]] Status check_protection(const Ec2Id& id, bool is_in_group);
  [[nodiscard]] Status end(const Ec2Id& id, bool is_in_group, const Permit& permit);
  [[nodiscard]] bool was_seen(const std::string& instance);

  ProviderParts parts_;
  std::mutex mutex_;
  std::set<std::string> seen_;  // Guarded by mutex_.
};

}  // namespace gpuward::remediator
