#include "tests/support/moto.h"

#include <csignal>

#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/wait.h"

namespace gpuward::support {
namespace {

constexpr aws::AwsService kIam{"IAM", "iam", "iam", "IAM"};
// The calls that make the administrator; moto checks all others.
constexpr const char* kUncheckedActions = "3";
constexpr const char* kEverything =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]})";

std::filesystem::path python() { return folder_of(kMoto) / "bin/python"; }

aws::AwsQuery iam_query(const std::string& action, http::Query parameters) {
  return {.service = kIam,
          .action = action,
          .version = "2010-05-08",
          .parameters = std::move(parameters)};
}

}  // namespace

std::string Moto::why_unavailable() {
  if (!find_program(python().string()).empty()) return {};
  return "no moto in the cache: `./dev deps --all` installs it";
}

Moto::Moto() = default;

Result<std::unique_ptr<Moto>> Moto::start() {
  // free_port() reserves a port among tests only: another program may take it before moto does.
  for (int attempt = 1;; ++attempt) {
    std::unique_ptr<Moto> moto(new Moto());
    const auto status = moto->spawn();
    if (status) return moto;
    if (attempt == 2) return with_context("starting moto", status.error());
  }
}

Status Moto::spawn() {
  const std::string port = std::to_string(free_port());
  url_ = "http://127.0.0.1:" + port;
  auto process = Process::spawn(
      {.argv = {python().string(), "-m", "moto.server", "-H", "127.0.0.1", "-p", port},
       .env = {{"INITIAL_NO_AUTH_ACTION_COUNT", kUncheckedActions}}});
  if (!process) return std::unexpected(process.error());
  process_ = *std::move(process);
  const auto answers = [this] { return http_get(url_ + "/moto-api/data.json").status == 200; };
  if (!poll_until([&] { return !process_->running() || answers(); }) || !process_->running()) {
    return fail(ErrorKind::kUnavailable, process_->error_output());
  }
  aws::AwsClient anybody(http_, {.variables = variables("AKIAANYBODY", "any")}, clock_);
  auto admin = add_user(anybody, "admin", kEverything);
  if (!admin) return std::unexpected(admin.error());
  admin_ = std::make_unique<aws::AwsClient>(
      http_, aws::AwsEnvironment{.variables = *std::move(admin)}, clock_);
  return load_services();
}

// A service reads its files at its first request, which can take longer than a caller waits.
Status Moto::load_services() {
  if (!poll_until([&] { return ec2("DescribeInstances", {}).has_value(); }))
    return fail(ErrorKind::kTimeout, "EC2 does not answer");
  const auto has_groups = [&] { return auto_scaling("DescribeAutoScalingGroups", {}).has_value(); };
  if (!poll_until(has_groups)) return fail(ErrorKind::kTimeout, "Auto Scaling does not answer");
  const aws::AwsCall buckets{.service = aws::kS3, .what = "ListBuckets", .method = "GET"};
  if (!poll_until([&] { return admin_->call(buckets).has_value(); }))
    return fail(ErrorKind::kTimeout, "no answer to " + buckets.what);
  return {};
}

Result<aws::XmlElement> Moto::ec2(const std::string& action, http::Query parameters) {
  return admin_->query({.service = aws::kEc2,
                        .action = action,
                        .version = "2016-11-15",
                        .parameters = std::move(parameters)});
}

Result<aws::XmlElement> Moto::auto_scaling(const std::string& action, http::Query parameters) {
  return admin_->query({.service = aws::kAutoScaling,
                        .action = action,
                        .version = "2011-01-01",
                        .parameters = std::move(parameters)});
}

Result<aws::XmlElement> Moto::iam(const std::string& action, http::Query parameters) {
  return admin_->query(iam_query(action, std::move(parameters)));
}

std::map<std::string, std::string> Moto::variables(const std::string& id,
                                                   const std::string& secret) const {
  return {{"AWS_ENDPOINT_URL", url_},
          {"AWS_REGION", "us-east-1"},
          {"AWS_ACCESS_KEY_ID", id},
          {"AWS_SECRET_ACCESS_KEY", secret}};
}

Result<std::map<std::string, std::string>> Moto::add_user(const std::string& name,
                                                          const std::string& policy) {
  return add_user(*admin_, name, policy);
}

Result<std::map<std::string, std::string>> Moto::add_user(aws::AwsClient& as,
                                                          const std::string& name,
                                                          const std::string& policy) {
  const auto made = as.query(iam_query("CreateUser", {{"UserName", name}}));
  if (!made) return std::unexpected(made.error());
  const auto allowed = as.query(iam_query(
      "PutUserPolicy", {{"UserName", name}, {"PolicyName", "rights"}, {"PolicyDocument", policy}}));
  if (!allowed) return std::unexpected(allowed.error());
  const auto key = as.query(iam_query("CreateAccessKey", {{"UserName", name}}));
  if (!key) return std::unexpected(key.error());
  const aws::XmlElement& given = key->child("CreateAccessKeyResult").child("AccessKey");
  return variables(given.text_at("AccessKeyId"), given.text_at("SecretAccessKey"));
}

Result<std::string> Moto::run_instance(http::Query more) {
  http::Query parameters = {{"ImageId", "ami-12c6146b"},
                            {"InstanceType", "p5.48xlarge"},
                            {"MinCount", "1"},
                            {"MaxCount", "1"}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  const auto made = ec2("RunInstances", parameters);
  if (!made) return std::unexpected(made.error());
  return made->text_at("instancesSet/item/instanceId");
}

Result<std::string> Moto::run_group(const std::string& name, const http::Query& more) {
  const auto launch = auto_scaling("CreateLaunchConfiguration", {{"LaunchConfigurationName", name},
                                                                 {"ImageId", "ami-12c6146b"},
                                                                 {"InstanceType", "p5.48xlarge"}});
  if (!launch) return std::unexpected(launch.error());
  http::Query parameters = {{"AutoScalingGroupName", name},
                            {"LaunchConfigurationName", name},
                            {"MinSize", "1"},
                            {"MaxSize", "2"},
                            {"DesiredCapacity", "1"},
                            {"AvailabilityZones.member.1", "us-east-1a"}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  const auto group = auto_scaling("CreateAutoScalingGroup", parameters);
  if (!group) return std::unexpected(group.error());
  const auto members = members_of(name);
  if (members.size() == 1) return members[0];
  return fail(ErrorKind::kInternal, "the group has not one member");
}

std::vector<std::string> Moto::members_of(const std::string& group) {
  const auto answer =
      auto_scaling("DescribeAutoScalingGroups", {{"AutoScalingGroupNames.member.1", group}});
  std::vector<std::string> ids;
  if (!answer) return ids;
  const aws::XmlElement& found =
      answer->child("DescribeAutoScalingGroupsResult").child("AutoScalingGroups").child("member");
  for (const aws::XmlElement& member : found.child("Instances").children)
    ids.push_back(member.text_at("InstanceId"));
  return ids;
}

std::string Moto::state_of(const std::string& instance) {
  const auto answer = ec2("DescribeInstances", {{"InstanceId.1", instance}});
  return answer ? answer->text_at("reservationSet/item/instancesSet/item/instanceState/name") : "";
}

void Moto::let_one_pass() const {
  static_cast<void>(http_post(url_ + "/moto-api/reset-auth", "1"));
}
void Moto::freeze() const { process_->signal(SIGSTOP); }
void Moto::thaw() const { process_->signal(SIGCONT); }

}  // namespace gpuward::support
