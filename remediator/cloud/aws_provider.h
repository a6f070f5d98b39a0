// Machines on EC2. An instance of an Auto Scaling group is ended through its group, which makes
// another one; any other by EC2 itself. The provider acts only on the instance that spec.providerID
// names, after AWS has confirmed that this instance still belongs to the node. It is off unless
// machines.aws of the policy turns it on. Rights: manifests/remediator-aws-iam.json.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "core/aws/client.h"
#include "remediator/cloud/ec2_instance.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

class AwsProvider final : public CloudProvider {
 public:
  explicit AwsProvider(const ProviderParts& parts) : parts_(parts) {}
  [[nodiscard]] bool can(MachineAction action, const Machine& machine) const override;
  // An error that may_have_arrived() comes from the action itself. If a query before the action
  // fails in that way, the error is kBlocked: the action was not requested.
  [[nodiscard]] Status reboot(const Machine& machine, const Permit& permit) override;
  [[nodiscard]] Status terminate(const Machine& machine, const Permit& permit) override;
  // If AWS does not know an instance, it is gone only if this process has seen it: another account
  // or region does not know it either.
  [[nodiscard]] Result<MachineFate> fate(const Machine& machine) override;
  // EC2's own status checks, of the system and of the instance.
  [[nodiscard]] MachineProofs proofs(const Machine& machine) override;

 private:
  // The Auto Scaling group of an instance and its lifecycle state in it.
  struct Membership {
    std::string group, state;  // "InService", "Terminating:Wait", "Warmed:Terminating:Proceed"
    [[nodiscard]] bool is_ending() const { return state.contains("Terminat"); }
    [[nodiscard]] std::string words() const {
      return "Auto Scaling group " + group + " reports the instance in lifecycle state " + state;
    }
  };

  [[nodiscard]] Result<aws::XmlElement> ask(const aws::AwsService& service,
                                            const std::string& action, const Ec2Id& id,
                                            http::Query parameters, const Permit& permit = {});
  // kNotFound: AWS does not know it.
  [[nodiscard]] Result<Ec2Instance> describe(const Ec2Id& id);
  // kRefused if it does not belong to this node.
  [[nodiscard]] Status check_owner(const Ec2Instance& instance, const Ec2Id& id,
                                   const Machine& machine) const;
  // nullopt for an instance that is in no group.
  [[nodiscard]] Result<std::optional<Membership>> membership(const Ec2Id& id);
  // kRefused for an instance with termination protection.
  [[nodiscard]] Status check_protection(const Ec2Id& id, bool is_in_group);
  [[nodiscard]] Status end(const Ec2Id& id, bool is_in_group, const Permit& permit);
  [[nodiscard]] bool was_seen(const std::string& instance);

  ProviderParts parts_;
  std::mutex mutex_;
  std::set<std::string> seen_;  // guarded by mutex_
};

}  // namespace gpuward::remediator
