#include "tests/support/aws_front.h"

#include <stdexcept>
#include <utility>

#include "core/aws/xml.h"
#include "core/http/syntax/url.h"

namespace gpuward::support {
namespace {

constexpr const char* kAccount = "123456789012";  // moto's
constexpr const char* kEndOfMember = "TerminateInstanceInAutoScalingGroup";
constexpr const char* kMembers = "DescribeAutoScalingInstances";
// Longer than any message that is kept, like the real ones.
const std::string kEncoded = "5KJbXqM4" + std::string(600, 'x');

bool is_of_auto_scaling(const std::string& action) {
  return action == kEndOfMember || action == kMembers;
}

std::string instance_of(const http::Query& form) {
  for (const char* const name : {"InstanceId", "InstanceId.1", "InstanceIds.member.1"}) {
    if (std::string id = http::query_value(form, name); !id.empty()) return id;
  }
  return {};
}

// Headers that curl writes itself.
bool is_of_the_connection(const std::string& header) {
  return header == "Connection" || header == "Content-Length" || header == "Accept-Encoding";
}

}  // namespace

AwsFront::AwsFront(Moto& moto) : moto_(moto) {
  http::ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  auto server = http::Server::start(
      options, {{.path = "/", .methods = {"POST"}, .handler = [this](const http::Request& request) {
                   return answer(request);
                 }}});
  if (!server) throw std::runtime_error(server.error().message);
  server_ = *std::move(server);
}

std::map<std::string, std::string> AwsFront::variables(
    std::map<std::string, std::string> of_user) const {
  of_user["AWS_ENDPOINT_URL"] = "http://127.0.0.1:" + std::to_string(server_->ports().front());
  return of_user;
}

void AwsFront::refuse(const std::string& action, const AwsRefusal& refusal, int times) {
  const std::lock_guard lock(mutex_);
  refusals_[action].insert(refusals_[action].end(), static_cast<std::size_t>(times), refusal);
}

void AwsFront::lose_answer(const std::string& action) {
  const std::lock_guard lock(mutex_);
  loses_answer_of_ = action;
}

void AwsFront::enforce(const Json& policy) {
  const std::lock_guard lock(mutex_);
  policy_ = policy;
}

void AwsFront::complete_hook(const std::string& instance) {
  const auto ended = moto_.auto_scaling(
      kEndOfMember, {{"InstanceId", instance}, {"ShouldDecrementDesiredCapacity", "false"}});
  if (!ended) throw std::runtime_error(ended.error().message);
  const std::lock_guard lock(mutex_);
  waiting_.erase(instance);
}

int AwsFront::asked(const std::string& action) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(action);
  return found == counts_.end() ? 0 : found->second.asked;
}

int AwsFront::carried_out(const std::string& action) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(action);
  return found == counts_.end() ? 0 : found->second.carried_out;
}

bool AwsFront::takes_refusal(const std::string& action, AwsRefusal& out) {
  const std::lock_guard lock(mutex_);
  ++counts_[action].asked;
  auto& waiting = refusals_[action];
  if (waiting.empty()) return false;
  out = waiting.front();
  waiting.erase(waiting.begin());
  return true;
}

http::Response AwsFront::answer(const http::Request& request) {
  const http::Query form = http::parse_query(request.body);
  const std::string action = http::query_value(form, "Action");
  const std::string instance = instance_of(form);
  if (AwsRefusal refused; takes_refusal(action, refused)) return refusal(action, refused);
  if (!may(action, instance)) return unauthorized(action, instance);
  // The answer of AWS to an accepted call (Auto Scaling API Reference, ActivityType).
  if (action == kEndOfMember && is_held_by_hook(instance)) {
    return http::Response::text(
        200,
        "<TerminateInstanceInAutoScalingGroupResponse>"
        "<TerminateInstanceInAutoScalingGroupResult><Activity><Progress>0</Progress><StatusCode>"
        "MidTerminatingLifecycleAction</StatusCode></Activity>"
        "</TerminateInstanceInAutoScalingGroupResult>"
        "</TerminateInstanceInAutoScalingGroupResponse>",
        "text/xml");
  }
  return pass_on(request, action);
}

http::Response AwsFront::pass_on(const http::Request& request, const std::string& action) {
  http::ClientRequest asked{
      .method = request.method, .url = moto_.url() + "/", .headers = {}, .body = request.body};
  for (const auto& [name, value] : request.headers) {
    if (!is_of_the_connection(name)) asked.headers.emplace_back(name, value);
  }
  auto answered = http_.send(asked);
  if (!answered) return http::Response::text(502, answered.error().message);
  bool is_lost = false;
  {
    const std::lock_guard lock(mutex_);
    ++counts_[action].carried_out;
    is_lost = loses_answer_of_ == action;
    if (is_lost) loses_answer_of_.clear();
    if (action == kMembers) show_waiting(answered->body);
  }
  if (is_lost) return refusal(action, {500, "InternalError", "An internal error has occurred"});
  return http::Response::text(answered->status, std::move(answered->body), "text/xml");
}

void AwsFront::show_waiting(std::string& body) const {
  constexpr std::string_view kInService = "<LifecycleState>InService<";
  for (const auto& [instance, group] : waiting_) {
    const std::size_t member = body.find("<InstanceId>" + instance + "<");
    const std::size_t state = body.find(kInService, member);
    if (member == std::string::npos || state == std::string::npos) continue;
    body.replace(state, kInService.size(), "<LifecycleState>Terminating:Wait<");
  }
}

std::string AwsFront::group_of(const std::string& instance) {
  const auto answered = moto_.auto_scaling(kMembers, {{"InstanceIds.member.1", instance}});
  return answered ? answered->text_at(
                        "DescribeAutoScalingInstancesResult/AutoScalingInstances/"
                        "member/AutoScalingGroupName")
                  : "";
}

bool AwsFront::is_held_by_hook(const std::string& instance) {
  const std::string group = group_of(instance);
  const auto hooks =
      moto_.auto_scaling("DescribeLifecycleHooks", {{"AutoScalingGroupName", group}});
  if (!hooks || hooks->text_at("DescribeLifecycleHooksResult/LifecycleHooks/member/"
                               "LifecycleTransition") != "autoscaling:EC2_INSTANCE_TERMINATING")
    return false;
  const std::lock_guard lock(mutex_);
  waiting_[instance] = group;
  ++counts_[kEndOfMember].carried_out;
  return true;
}

IamCall AwsFront::call_of(const std::string& action, const std::string& instance) {
  IamCall call{.action = (is_of_auto_scaling(action) ? "autoscaling:" : "ec2:") + action,
               .resource = "*",
               .tags = {}};
  // The Service Authorization Reference of EC2 and of Auto Scaling lists the actions with
  // resource-level permissions; in the shipped policy, all that change something have them.
  if (action == kEndOfMember) {
    const auto groups = moto_.auto_scaling(
        "DescribeAutoScalingGroups", {{"AutoScalingGroupNames.member.1", group_of(instance)}});
    if (!groups) return call;
    const aws::XmlElement& group =
        groups->child("DescribeAutoScalingGroupsResult").child("AutoScalingGroups").child("member");
    call.resource = group.text_at("AutoScalingGroupARN");
    for (const aws::XmlElement& tag : group.child("Tags").children)
      call.tags[tag.text_at("Key")] = tag.text_at("Value");
  } else if (!action.starts_with("Describe")) {
    call.resource = std::string("arn:aws:ec2:us-east-1:") + kAccount + ":instance/" + instance;
    const auto instances = moto_.ec2("DescribeInstances", {{"InstanceId.1", instance}});
    if (!instances) return call;
    for (const aws::XmlElement& tag : instances->child("reservationSet")
                                          .child("item")
                                          .child("instancesSet")
                                          .child("item")
                                          .child("tagSet")
                                          .children)
      call.tags[tag.text_at("key")] = tag.text_at("value");
  }
  return call;
}

bool AwsFront::may(const std::string& action, const std::string& instance) {
  Json policy;
  {
    const std::lock_guard lock(mutex_);
    policy = policy_;
  }
  return policy.is_null() || allows(policy, call_of(action, instance));
}

// The texts of recorded answers of AWS: EC2 in issue 4527 of aws/ karpenter-provider-aws, Auto
// Scaling in pull request 108 of sassoftware/viya4-iac-aws.
http::Response AwsFront::unauthorized(const std::string& action, const std::string& instance) {
  const IamCall call = call_of(action, instance);
  const std::string why =
      "User: arn:aws:sts::" + std::string(kAccount) +
      ":assumed-role/gpuward-remediator/gpuward is not authorized to perform: " + call.action +
      " on resource: " + call.resource + " because no identity-based policy allows the " +
      call.action + " action";
  if (is_of_auto_scaling(action)) return refusal(action, {403, "AccessDenied", why});
  return refusal(action, {403, "UnauthorizedOperation",
                          "You are not authorized to perform this operation. " + why +
                              ". Encoded authorization failure message: " + kEncoded});
}

// EC2 API Reference, "Error codes for the Amazon EC2 API"; Auto Scaling answers like all other
// services of the query protocol.
http::Response AwsFront::refusal(const std::string& action, const AwsRefusal& refusal) {
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    id = "request-" + std::to_string(++answers_);
  }
  const std::string error =
      "<Code>" + refusal.code + "</Code><Message>" + refusal.message + "</Message></Error>";
  return http::Response::text(
      refusal.status,
      is_of_auto_scaling(action)
          ? "<ErrorResponse xmlns=\"http://autoscaling.amazonaws.com/doc/2011-01-01/\"><Error>"
            "<Type>Sender</Type>" +
                error + "<RequestId>" + id + "</RequestId></ErrorResponse>"
          : "<Response><Errors><Error>" + error + "</Errors><RequestID>" + id +
                "</RequestID></Response>",
      "text/xml");
}

}  // namespace gpuward::support
