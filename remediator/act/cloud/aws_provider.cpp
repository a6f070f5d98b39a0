#include "remediator/act/cloud/aws_provider.h"

namespace gpuward::remediator {
namespace {

constexpr const char* kEc2Version = "2016-11-15";
constexpr const char* kAutoScalingVersion = "2011-01-01";
// Auto Scaling sets this tag on each member of a group.
constexpr const char* kGroupTag = "aws:autoscaling:groupName";

// The error of a query before the action: the action was not requested.
std::unexpected<Error> before_the_action(Error error) {
  if (may_have_arrived(error.kind)) error.kind = ErrorKind::kBlocked;
  return std::unexpected(std::move(error));
}

// If EC2 denies a request, its message names neither the missing right nor the instance, nor does
// it say how to fix it.
std::string missing_right(const aws::AwsService& service, const std::string& action,
                          const std::string& instance, const std::string& cluster) {
  const bool has_condition = !action.starts_with("Describe");
  const bool is_of_group = has_condition && service.host == aws::kAutoScaling.host;
  return "AWS does not allow " + std::string(service.signing) + ":" + action + " for " +
         (is_of_group ? "the Auto Scaling group of " : "") + "instance " + instance +
         "; the role needs manifests/remediator-aws-iam.json" +
         (has_condition ? ", which requires the tag kubernetes.io/cluster/" +
                              (cluster.empty() ? "CLUSTER_NAME" : cluster) + "=owned"
                        : std::string());
}

bool has_ended(const Ec2Instance& instance) {
  return instance.state == "shutting-down" || instance.state == "terminated";
}

void judge(const std::optional<Ec2Status>& status, MachineProof& proof) {
  if (!status) {
    proof.words = "EC2 has no such instance";
    return;
  }
  proof.words = "EC2 reports state " + status->state + ", system status " + status->system +
                ", instance status " + status->instance;
  const bool is_stopped = status->state == "stopped" || status->state == "terminated";
  if (is_stopped || status->state == "stopping" || status->state == "shutting-down") {
    proof.sign = ProofSign::kDown;
    proof.is_off = is_stopped;
  } else if (status->system == "impaired" || status->instance == "impaired") {
    proof.sign = ProofSign::kDown;
  } else if (status->system == "ok" && status->instance == "ok") {
    proof.sign = ProofSign::kUp;
  }
}

}  // namespace

bool AwsProvider::can(MachineAction action, const Machine& machine) const {
  const AwsMachines settings = parts_.policy.get()->machines.aws;
  const bool is_on = action == MachineAction::kReboot ? settings.reboot : settings.terminate;
  return is_on && parts_.aws != nullptr && parse_ec2_id(machine.provider_id).has_value();
}

Result<aws::XmlElement> AwsProvider::ask(const aws::AwsService& service, const std::string& action,
                                         const Ec2Id& id, http::Query parameters,
                                         const Permit& permit) {
  auto answer = parts_.aws->query(
      {.service = service,
       .action = action,
       .version = service.host == aws::kEc2.host ? kEc2Version : kAutoScalingVersion,
       .parameters = std::move(parameters),
       .region = id.region,
       .permit = permit});
  if (answer || answer.error().kind != ErrorKind::kForbidden) return answer;
  return with_context(
      missing_right(service, action, id.instance, parts_.policy.get()->machines.aws.cluster),
      answer.error());
}

Result<Ec2Instance> AwsProvider::describe(const Ec2Id& id) {
  const auto answer = ask(aws::kEc2, "DescribeInstances", id, {{"InstanceId.1", id.instance}});
  if (!answer && answer.error().kind != ErrorKind::kNotFound)
    return std::unexpected(answer.error());
  auto instance = answer ? find_instance(*answer, id.instance) : std::nullopt;
  if (!instance) {
    return fail(ErrorKind::kNotFound, "AWS returned no instance " + id.instance + " in " +
                                          id.region +
                                          ": it was terminated more than an hour ago, or the "
                                          "credentials belong to another account");
  }
  const std::lock_guard lock(mutex_);
  seen_.insert(id.instance);
  return *std::move(instance);
}

Status AwsProvider::check_owner(const Ec2Instance& instance, const Ec2Id& id,
                                const Machine& machine) const {
  const auto other = difference(instance, id, machine, parts_.policy.get()->machines.aws.cluster);
  if (other) return fail(ErrorKind::kRefused, *other);
  return {};
}

bool AwsProvider::was_seen(const std::string& instance) {
  const std::lock_guard lock(mutex_);
  return seen_.contains(instance);
}

Result<std::optional<AwsProvider::Membership>> AwsProvider::membership(const Ec2Id& id) {
  const auto answer = ask(aws::kAutoScaling, "DescribeAutoScalingInstances", id,
                          {{"InstanceIds.member.1", id.instance}});
  if (!answer) return std::unexpected(answer.error());
  const aws::XmlElement& members =
      answer->child("DescribeAutoScalingInstancesResult").child("AutoScalingInstances");
  for (const aws::XmlElement& member : members.children) {
    if (member.text_at("InstanceId") != id.instance) continue;
    return Membership{.group = member.text_at("AutoScalingGroupName"),
                      .state = member.text_at("LifecycleState")};
  }
  return std::nullopt;
}

Status AwsProvider::check_protection(const Ec2Id& id, bool is_in_group) {
  const auto answer = ask(aws::kEc2, "DescribeInstanceAttribute", id,
                          {{"Attribute", "disableApiTermination"}, {"InstanceId", id.instance}});
  if (answer && answer->text_at("disableApiTermination/value") != "true") return {};
  if (answer) {
    return fail(ErrorKind::kRefused, "instance " + id.instance +
                                         " has termination protection (disableApiTermination), "
                                         "which only an operator may remove");
  }
  // EC2 enforces the protection itself for TerminateInstances; a group ends protected instances
  // too.
  if (answer.error().kind == ErrorKind::kForbidden && !is_in_group) return {};
  return std::unexpected(answer.error());
}

Status AwsProvider::end(const Ec2Id& id, bool is_in_group, const Permit& permit) {
  const auto asked =
      is_in_group
          ? ask(aws::kAutoScaling, "TerminateInstanceInAutoScalingGroup", id,
                {{"InstanceId", id.instance}, {"ShouldDecrementDesiredCapacity", "false"}}, permit)
          : ask(aws::kEc2, "TerminateInstances", id, {{"InstanceId.1", id.instance}}, permit);
  if (asked || asked.error().kind == ErrorKind::kNotFound) return {};
  return std::unexpected(asked.error());
}

Status AwsProvider::reboot(const Machine& machine, const Permit& permit) {
  const auto id = parse_ec2_id(machine.provider_id);
  if (!id)
    return fail(ErrorKind::kRefused,
                machine.provider_id + " is not the provider ID of an EC2 instance");
  const auto instance = describe(*id);
  if (!instance) return before_the_action(instance.error());
  if (instance->state != "running") {
    // EC2 would accept the request and do nothing. An instance that has ended no longer has its DNS
    // name either, so check_owner() could reject it.
    return fail(ErrorKind::kRefused,
                "instance " + id->instance + " is " + instance->state + ", not running" +
                    (instance->reason.empty() ? "" : " (" + instance->reason + ")"));
  }
  if (auto owned = check_owner(*instance, *id, machine); !owned) return owned;
  // If the group's lifecycle hook is ending the instance, a restart would only delay the end.
  const auto group = instance->tags.contains(kGroupTag) ? membership(*id) : std::nullopt;
  if (!group) return before_the_action(group.error());
  if (*group && (*group)->is_ending()) {
    return fail(ErrorKind::kBlocked,
                "instance " + id->instance + " is not restarted: " + (*group)->words());
  }
  const auto asked =
      ask(aws::kEc2, "RebootInstances", *id, {{"InstanceId.1", id->instance}}, permit);
  if (asked) return {};
  return std::unexpected(asked.error());
}

Status AwsProvider::terminate(const Machine& machine, const Permit& permit) {
  const auto id = parse_ec2_id(machine.provider_id);
  if (!id) return fail(ErrorKind::kRefused, machine.provider_id + " names no EC2 instance");
  const bool was_known = was_seen(id->instance);
  const auto instance = describe(*id);
  if (!instance && instance.error().kind == ErrorKind::kNotFound && was_known) return {};
  if (!instance) return before_the_action(instance.error());
  // An instance that has ended no longer has its DNS name, so check_owner() could reject it.
  if (has_ended(*instance)) return {};
  if (auto owned = check_owner(*instance, *id, machine); !owned) return owned;
  const auto group = membership(*id);
  if (!group) return before_the_action(group.error());
  if (*group && (*group)->is_ending()) return {};
  if (auto checked = check_protection(*id, group->has_value()); !checked)
    return before_the_action(checked.error());
  return end(*id, group->has_value(), permit);
}

MachineProofs AwsProvider::proofs(const Machine& machine) {
  const AwsMachines settings = parts_.policy.get()->machines.aws;
  const auto id = parse_ec2_id(machine.provider_id);
  if ((!settings.reboot && !settings.terminate) || parts_.aws == nullptr || !id) return {};
  MachineProof proof{.kind = ProofKind::kCloud,
                     .sign = ProofSign::kUnknown,
                     .at = parts_.clock.wall(),
                     .words = {}};
  const auto answer = ask(aws::kEc2, "DescribeInstanceStatus", *id,
                          {{"IncludeAllInstances", "true"}, {"InstanceId.1", id->instance}});
  if (answer) {
    judge(find_status(*answer, id->instance), proof);
  } else {
    // curl's messages contain milliseconds and would differ at every read.
    const bool is_answer = !may_have_arrived(answer.error().kind);
    proof.words = "EC2 does not report the instance's status" +
                  (is_answer ? ": " + answer.error().message : std::string());
  }
  return {std::move(proof)};
}

Result<MachineFate> AwsProvider::fate(const Machine& machine) {
  const auto id = parse_ec2_id(machine.provider_id);
  if (!id) return fail(ErrorKind::kRefused, machine.provider_id + " names no EC2 instance");
  const bool was_known = was_seen(id->instance);
  const auto instance = describe(*id);
  if (!instance && instance.error().kind == ErrorKind::kNotFound && was_known) return Fate::kGone;
  if (!instance) return std::unexpected(instance.error());
  if (instance->state == "terminated") return Fate::kGone;
  if (instance->state == "shutting-down") return Fate::kEnding;
  // The instance keeps running until the group's lifecycle hook releases it.
  const auto group = membership(*id);
  if (!group) return std::unexpected(group.error());
  if (!*group || !(*group)->is_ending()) return Fate::kRuns;
  return MachineFate(Fate::kEnding, (*group)->words());
}

}  // namespace gpuward::remediator
