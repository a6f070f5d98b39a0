#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/clock.h"
#include "exporter/announcements/cloud.h"
#include "tests/fakes/fake_metadata.h"
#include "tests/support/host_tree.h"

namespace gpuward::exporter {
namespace {

using fakes::FakeMetadata;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::chrono::system_clock::time_point at(std::string_view text) { return *parse_rfc3339(text); }
const auto kNow = at("2026-11-26T08:00:00Z");

Result<ReadAnnouncements> read(std::string_view cloud, FakeMetadata& metadata,
                               std::vector<Announcement> known = {}) {
  return cloud_named(cloud)->read(metadata, "http://169.254.169.254", known, kNow);
}

// As the EC2 User Guide shows it, "View scheduled events using instance metadata".
constexpr auto kScheduledReboot = R"([
  {
    "NotBefore" : "21 Jan 2019 09:00:43 GMT",
    "Code" : "system-reboot",
    "Description" : "scheduled reboot",
    "EventId" : "instance-event-0d59937288b749b32",
    "NotAfter" : "21 Jan 2019 09:17:23 GMT",
    "State" : "active"
  }
])";

TEST(AwsAnnouncements, AreTheScheduledEventsAsTheUserGuideShowsThem) {
  FakeMetadata metadata;
  metadata.set(fakes::kScheduledPath, kScheduledReboot);
  const auto found = read("aws", metadata);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->list.size(), 1U);
  const Announcement& one = found->list.front();
  EXPECT_EQ(one.id, "instance-event-0d59937288b749b32");
  EXPECT_EQ(one.kind, AnnouncementKind::kReboot);
  EXPECT_EQ(one.announced_by, "aws");
  EXPECT_EQ(one.what, "system-reboot: scheduled reboot");
  EXPECT_EQ(one.start, at("2019-01-21T09:00:43Z"));
  EXPECT_EQ(one.end, at("2019-01-21T09:17:23Z"));
  EXPECT_THAT(found->doubts, IsEmpty());
}

TEST(AwsAnnouncements, HaveAKindForEachDocumentedCode) {
  using enum AnnouncementKind;
  const std::pair<std::string, AnnouncementKind> codes[] = {{"instance-reboot", kReboot},
                                                            {"system-reboot", kReboot},
                                                            {"system-maintenance", kFreeze},
                                                            {"instance-stop", kRedeploy},
                                                            {"instance-retirement", kTerminate}};
  for (const auto& [code, kind] : codes) {
    FakeMetadata metadata;
    metadata.set(fakes::kScheduledPath, R"([{"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": ")" +
                                            code + R"(", "EventId": "e", "State": "active"}])");
    const auto found = read("aws", metadata);
    ASSERT_TRUE(found) << code;
    ASSERT_EQ(found->list.size(), 1U) << code;
    EXPECT_EQ(found->list.front().kind, kind) << code;
  }
}

TEST(AwsAnnouncements, AreNoneIfEachItemAnswers404OrAnEmptyList) {
  FakeMetadata metadata;
  EXPECT_THAT(read("aws", metadata)->list, IsEmpty());
  metadata.set(fakes::kScheduledPath, "[]");
  EXPECT_THAT(read("aws", metadata)->list, IsEmpty());
}

// "[Canceled] ..." and "[Completed] ..." have such a state in the history.
TEST(AwsAnnouncements, LeaveOutWhatIsNoLongerActive) {
  FakeMetadata metadata;
  metadata.set(fakes::kScheduledPath, R"([{"NotBefore": "21 Jan 2019 09:00:43 GMT",
    "Code": "system-reboot", "EventId": "e", "State": "canceled"}])");
  EXPECT_THAT(read("aws", metadata)->list, IsEmpty());
}

TEST(AwsAnnouncements, AreSpotInterruptionsAndRebalanceRecommendations) {
  FakeMetadata metadata;
  metadata.set(fakes::kSpotPath, R"({"action": "terminate", "time": "2017-09-18T08:22:00Z"})");
  metadata.set(fakes::kRebalancePath, R"({"noticeTime": "2020-11-05T08:22:00Z"})");
  const auto found = read("aws", metadata);
  ASSERT_EQ(found->list.size(), 2U);
  EXPECT_EQ(found->list[0].kind, AnnouncementKind::kTerminate);
  EXPECT_EQ(found->list[0].what, "spot interruption: terminate");
  EXPECT_EQ(found->list[0].start, at("2017-09-18T08:22:00Z"));
  EXPECT_EQ(found->list[1].kind, AnnouncementKind::kRebalance);
  EXPECT_EQ(found->list[1].start, at("2020-11-05T08:22:00Z"));
}

TEST(AwsAnnouncements, OfAnUnknownCodeOrWithoutATimeAreDoubtsAndTheRestCounts) {
  FakeMetadata metadata;
  metadata.set(fakes::kScheduledPath, R"([
    {"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "instance-paint", "EventId": "a", "State": "active"},
    {"NotBefore": "tomorrow", "Code": "system-reboot", "EventId": "b", "State": "active"},
    {"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "system-reboot", "EventId": "c", "State": "active"}])");
  const auto found = read("aws", metadata);
  ASSERT_EQ(found->list.size(), 1U);
  EXPECT_EQ(found->list.front().id, "c");
  EXPECT_THAT(found->doubts, ElementsAre(HasSubstr("instance-paint"), HasSubstr("tomorrow")));
}

TEST(AwsAnnouncements, ThatCannotBeReadAreAnErrorAndNotNone) {
  for (const auto& [path, body] : std::map<std::string_view, std::string>{
           {fakes::kScheduledPath, "<html>"},
           {fakes::kSpotPath, R"({"action": "stop"})"},
           {fakes::kRebalancePath, R"({"noticeTime": "soon"})"}}) {
    FakeMetadata metadata;
    metadata.set(path, body);
    EXPECT_FALSE(read("aws", metadata)) << path;
  }
  FakeMetadata broken;
  broken.set(fakes::kScheduledPath, "", 500);
  EXPECT_FALSE(read("aws", broken));
  FakeMetadata silent;
  silent.fail_with(Error{ErrorKind::kUnavailable, "connection refused"});
  EXPECT_FALSE(read("aws", silent));
}

TEST(Announcements, AreAskedForWithinASecondAndWithACap) {
  for (const auto cloud : {"aws", "gce", "azure"}) {
    FakeMetadata metadata;
    metadata.set(fakes::kAzureNamePath, "vm");
    (void)read(cloud, metadata);
    EXPECT_THAT(metadata.asked(), Not(IsEmpty()));
    for (const auto& request : metadata.asked()) {
      EXPECT_LE(request.timeout, std::chrono::seconds(1)) << request.url;
      EXPECT_LE(request.max_response_bytes, 64U << 10U) << request.url;
    }
  }
}

TEST(GceAnnouncements, AreMaintenanceEventsThatStartAMinuteAfterTheyCame) {
  FakeMetadata metadata;
  metadata.set(fakes::kGceEventPath, "MIGRATE_ON_HOST_MAINTENANCE");
  auto found = read("gce", metadata);
  ASSERT_EQ(found->list.size(), 1U);
  EXPECT_EQ(found->list.front().kind, AnnouncementKind::kFreeze);
  EXPECT_EQ(found->list.front().start, kNow + std::chrono::seconds(60));

  auto known = found->list;
  known.front().start = kNow - std::chrono::seconds(20);
  EXPECT_EQ(read("gce", metadata, known)->list.front().start, known.front().start);

  metadata.set(fakes::kGceEventPath, "TERMINATE_ON_HOST_MAINTENANCE");
  EXPECT_EQ(read("gce", metadata)->list.front().kind, AnnouncementKind::kRedeploy);
  metadata.set(fakes::kGceEventPath, "NONE");
  EXPECT_THAT(read("gce", metadata)->list, IsEmpty());
  metadata.set(fakes::kGceEventPath, "PAINT_THE_HOST");
  EXPECT_FALSE(read("gce", metadata));
}

TEST(GceAnnouncements, AreThePreemptionOfASpotMachineHalfAMinuteAfterItCame) {
  FakeMetadata metadata;
  metadata.set(fakes::kGcePreemptedPath, "FALSE");
  EXPECT_THAT(read("gce", metadata)->list, IsEmpty());

  metadata.set(fakes::kGcePreemptedPath, "TRUE");
  const auto found = read("gce", metadata);
  ASSERT_EQ(found->list.size(), 1U);
  EXPECT_EQ(found->list.front().kind, AnnouncementKind::kTerminate);
  EXPECT_EQ(found->list.front().start, kNow + std::chrono::seconds(30));
  auto known = found->list;
  known.front().start = kNow - std::chrono::seconds(10);
  EXPECT_EQ(read("gce", metadata, known)->list.front().start, known.front().start);

  metadata.set(fakes::kGcePreemptedPath, "perhaps");
  EXPECT_FALSE(read("gce", metadata));
  metadata.set(fakes::kGcePreemptedPath, "", 500);
  EXPECT_FALSE(read("gce", metadata));
}

// As "Monitor and plan for a host maintenance event" shows it.
TEST(GceAnnouncements, AreTheUpcomingMaintenanceOfAcceleratorMachines) {
  FakeMetadata metadata;
  metadata.set(fakes::kGceUpcomingPath, R"({
    "can_reschedule": "true",
    "latest_window_start_time": "2024-12-01T19:00:01Z",
    "maintenance_reasons": ["PLANNED_UPDATE", "PLANNED_NETWORK_UPDATE"],
    "maintenance_status": "PENDING",
    "type": "SCHEDULED",
    "window_end_time": "2024-12-01T21:00:01Z",
    "window_start_time": "2024-12-01T19:00:01Z"})");
  const auto found = read("gce", metadata);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->list.size(), 1U);
  EXPECT_EQ(found->list.front().id, "upcoming-maintenance");
  EXPECT_EQ(found->list.front().kind, AnnouncementKind::kRedeploy);
  EXPECT_EQ(found->list.front().what, "host maintenance, SCHEDULED, PENDING");
  EXPECT_EQ(found->list.front().start, at("2024-12-01T19:00:01Z"));
  EXPECT_EQ(found->list.front().end, at("2024-12-01T21:00:01Z"));
}

TEST(GceAnnouncements, AreNoneInEachFormThatSaysSo) {
  for (const auto& [status, body] : std::vector<std::pair<int, std::string>>{
           {200, "{ }"},
           {200, "\"NONE\""},
           {404, "not found"},
           {503, R"({ "error": "no notifications have been received yet, try again later" })"}}) {
    FakeMetadata metadata;
    metadata.set(fakes::kGceUpcomingPath, body, status);
    const auto found = read("gce", metadata);
    ASSERT_TRUE(found) << body;
    EXPECT_THAT(found->list, IsEmpty()) << body;
  }
}

TEST(GceAnnouncements, ThatCannotBeReadAreAnErrorAndNotNone) {
  for (const auto& [status, body] : std::vector<std::pair<int, std::string>>{
           {503, ""}, {500, ""}, {200, "[]"}, {200, R"({"window_start_time": "soon"})"}}) {
    FakeMetadata metadata;
    metadata.set(fakes::kGceUpcomingPath, body, status);
    EXPECT_FALSE(read("gce", metadata)) << body;
  }
}

// As "Scheduled Events for Linux VMs" shows it.
std::string azure_event(const std::string& type, const std::string& status,
                        const std::string& not_before, const std::string& resources,
                        int duration = -1) {
  return R"({"DocumentIncarnation": 2, "Events": [{
    "EventId": "C7061BAC-AFDC-4513-B24B-AA5F13A16123", "EventStatus": ")" +
         status + R"(", "EventType": ")" + type +
         R"(", "ResourceType": "VirtualMachine", "Resources": )" + resources +
         R"(, "NotBefore": ")" + not_before +
         R"(", "Description": "Virtual machine is being paused", "EventSource": "Platform",
    "DurationInSeconds": )" +
         std::to_string(duration) + "}]}";
}

class AzureAnnouncements : public testing::Test {
 protected:
  AzureAnnouncements() { metadata.set(fakes::kAzureNamePath, "WestNO_0"); }
  FakeMetadata metadata;
};

TEST_F(AzureAnnouncements, AreTheScheduledEventsOfThisMachine) {
  metadata.set(fakes::kAzureEventsPath,
               azure_event("Freeze", "Scheduled", "Mon, 11 Apr 2022 22:26:58 GMT",
                           R"(["WestNO_1", "westno_0"])", 5));
  const auto found = read("azure", metadata);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->list.size(), 1U);
  EXPECT_EQ(found->list.front().kind, AnnouncementKind::kFreeze);
  EXPECT_EQ(found->list.front().start, at("2022-04-11T22:26:58Z"));
  EXPECT_EQ(found->list.front().end, at("2022-04-11T22:27:03Z"));
  EXPECT_EQ(found->list.front().what, "Freeze: Virtual machine is being paused");
}

TEST_F(AzureAnnouncements, OfOtherMachinesAreNotOurs) {
  metadata.set(fakes::kAzureEventsPath,
               azure_event("Reboot", "Scheduled", "Mon, 11 Apr 2022 22:26:58 GMT",
                           R"(["WestNO_1", "WestNO_01"])"));
  EXPECT_THAT(read("azure", metadata)->list, IsEmpty());
}

TEST_F(AzureAnnouncements, AreNotReadIfTheMachineDoesNotKnowItsName) {
  metadata.set(fakes::kAzureEventsPath,
               azure_event("Reboot", "Scheduled", "Mon, 11 Apr 2022 22:26:58 GMT", R"([""])"));
  metadata.set(fakes::kAzureNamePath, "");
  EXPECT_FALSE(read("azure", metadata));
  metadata.remove(fakes::kAzureNamePath);
  EXPECT_FALSE(read("azure", metadata));
}

TEST_F(AzureAnnouncements, HaveAKindForEachDocumentedType) {
  using enum AnnouncementKind;
  const std::pair<std::string, AnnouncementKind> types[] = {{"Freeze", kFreeze},
                                                            {"Reboot", kReboot},
                                                            {"Redeploy", kRedeploy},
                                                            {"Preempt", kTerminate},
                                                            {"Terminate", kTerminate}};
  for (const auto& [type, kind] : types) {
    metadata.set(
        fakes::kAzureEventsPath,
        azure_event(type, "Scheduled", "Mon, 11 Apr 2022 22:26:58 GMT", R"(["WestNO_0"])"));
    ASSERT_EQ(read("azure", metadata)->list.size(), 1U) << type;
    EXPECT_EQ(read("azure", metadata)->list.front().kind, kind) << type;
    EXPECT_EQ(read("azure", metadata)->list.front().end, std::nullopt);
  }
}

// Started events have a blank NotBefore.
TEST_F(AzureAnnouncements, ThatHaveStartedKeepTheStartThatWasKnown) {
  metadata.set(fakes::kAzureEventsPath, azure_event("Reboot", "Started", "", R"(["WestNO_0"])"));
  EXPECT_EQ(read("azure", metadata)->list.front().start, kNow);
  auto known = read("azure", metadata)->list;
  known.front().start = at("2026-11-26T07:50:00Z");
  EXPECT_EQ(read("azure", metadata, known)->list.front().start, known.front().start);
}

// An acknowledgement would start the event, for all machines that it names.
TEST_F(AzureAnnouncements, AreReadAndNeverAcknowledged) {
  metadata.set(
      fakes::kAzureEventsPath,
      azure_event("Reboot", "Scheduled", "Mon, 11 Apr 2022 22:26:58 GMT", R"(["WestNO_0"])"));
  (void)read("azure", metadata);
  for (const auto& request : metadata.asked()) EXPECT_EQ(request.method, "GET") << request.url;
}

TEST_F(AzureAnnouncements, OfUnknownTypesAreDoubtsAndOfUnknownFormAnError) {
  metadata.set(
      fakes::kAzureEventsPath,
      azure_event("Paint", "Scheduled", "Mon, 11 Apr 2022 22:26:58 GMT", R"(["WestNO_0"])"));
  EXPECT_THAT(read("azure", metadata)->list, IsEmpty());
  EXPECT_THAT(read("azure", metadata)->doubts, ElementsAre(HasSubstr("Paint")));
  metadata.set(fakes::kAzureEventsPath, azure_event("Reboot", "Scheduled", "", R"(["WestNO_0"])"));
  EXPECT_THAT(read("azure", metadata)->doubts, ElementsAre(HasSubstr("Reboot")));
  for (const auto* body : {"[]", "{}", "nonsense", R"({"Events": 3})"}) {
    metadata.set(fakes::kAzureEventsPath, body);
    EXPECT_FALSE(read("azure", metadata)) << body;
  }
}

TEST(CloudOf, IsTheOneThatTheFirmwareNames) {
  const std::tuple<std::string, std::string, std::string> signs[] = {
      {"sys_vendor", "Amazon EC2\n", "aws"},
      {"bios_version", "4.11.amazon\n", "aws"},
      {"product_name", "Google Compute Engine\n", "gce"},
      {"chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77\n", "azure"}};
  for (const auto& [attribute, text, cloud] : signs) {
    support::HostTree host;
    host.write("sys/class/dmi/id/" + attribute, text);
    ASSERT_TRUE(cloud_of(host.paths())) << cloud;
    EXPECT_EQ(cloud_of(host.paths())->name, cloud);
  }
}

// Hyper-V's vendor is Microsoft too.
TEST(CloudOf, IsNoneOnAMachineOfItsOwn) {
  support::HostTree host;
  EXPECT_FALSE(cloud_of(host.paths()));
  host.write("sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n")
      .write("sys/class/dmi/id/product_name", "Virtual Machine\n");
  EXPECT_FALSE(cloud_of(host.paths()));
}

}  // namespace
}  // namespace gpuward::exporter
