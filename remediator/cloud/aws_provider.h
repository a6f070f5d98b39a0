// Machines on EC2. An instance of an Auto Scaling group is ended through its group, which makes
// another one; any other by EC2 itself. The instance is the one that spec.providerID names, or
// nothing is done; and before anything is asked, AWS has to say that it is still this node's.
// Off unless machines.aws of the policy says otherwise. Rights: manifests/remediator-aws-iam.json.
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
  // An error that may_have_arrived() is one of the action itself: where the questions before it
  // fail, nothing was asked for, and that is kBlocked.
  [[nodiscard]] Status reboot(const Machine& machine, const Permit& permit) override;
  [[nodiscard]] Status terminate(const Machine& machine, const Permit& permit) override;
  // An instance that AWS does not know is gone only if this process has seen it: another account
  // or region knows it neither.
  [[nodiscard]] Result<MachineFate> fate(const Machine& machine) override;
  // EC2's own status checks, of the system and of the instance.
  [[nodiscard]] MachineProofs proofs(const Machine& machine) override;

 private:
  // Of an Auto Scaling group.
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
  // kRefused where it is not this node's.
  [[nodiscard]] Status check_owner(const Ec2Instance& instance, const Ec2Id& id,
                                   const Machine& machine) const;
  // nullopt for an instance that is in no group.
  [[nodiscard]] Result<std::optional<Membership>> membership(const Ec2Id& id);
  // kRefused for an instance that somebody has protected.
  [[nodiscard]] Status check_protection(const Ec2Id& id, bool is_in_group);
  [[nodiscard]] Status end(const Ec2Id& id, bool is_in_group, const Permit& permit);
  [[nodiscard]] bool was_seen(const std::string& instance);

  ProviderParts parts_;
  std::mutex mutex_;
  std::set<std::string> seen_;  // guarded by mutex_
};

}  // namespace gpuward::remediator
