#include "remediator/commands/exclusion_commands.h"

#include <utility>

#include "core/runtime/files.h"
#include "remediator/commands/command_json.h"
#include "remediator/guards/exclusions_json.h"
#include "remediator/records/exclusion_store.h"

namespace gpuward::remediator {
Result<std::string> list_exclusions(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  const auto list = store.read();
  if (!list) return std::unexpected(list.error());
  const ExclusionList in_force = without_expired(*list, clock.wall());
  if (flags.output != OutputFormat::kTable) {
    return in_format(flags.output, exclusions_json(in_force));
  }
  std::string text;
  for (const auto& [subject, exclusion] : in_force) {
    text += exclusion_text(subject, exclusion) + "\n";
  }
  return text.empty() ? "Nothing is excluded.\n" : text;
}

Result<std::string> add_exclusion(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  if (!is_exclusion_subject(flags.exclusion.subject)) {
    return fail(ErrorKind::kInvalid, "expected the name of a node or the id of an instance");
  }
  const auto name = api.who_am_i();
  if (!name) return with_context("asking the API server who you are", name.error());
  const Exclusion exclusion{.since = clock.wall(),
                            .until = clock.wall() + flags.exclusion.lasts,
                            .reason = flags.exclusion.reason,
                            .by = *name};
  const auto written = store.change([&](ExclusionList list) {
    list[flags.exclusion.subject] = exclusion;
    return Result<ExclusionList>(std::move(list));
  });
  if (!written) return std::unexpected(written.error());
  return exclusion_text(flags.exclusion.subject, exclusion) + "\n";
}

Result<std::string> remove_exclusion(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  const std::string& subject = flags.exclusion.subject;
  const auto written = store.change([&](ExclusionList list) -> Result<ExclusionList> {
    if (list.erase(subject) == 0) return fail(ErrorKind::kNotFound, subject + " is not excluded");
    return list;
  });
  if (!written) return std::unexpected(written.error());
  return subject + " is not excluded any more\n";
}

Result<std::string> import_exclusions(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  const std::string& path = flags.exclusion.file;
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto name = api.who_am_i();
  if (!name) return with_context("asking the API server who you are", name.error());
  auto imported = parse_exclusion_file(*text, *name);
  if (!imported) return with_context(path + ": nothing is imported", imported.error());
  const auto still_on = without_expired(*std::move(imported), clock.wall());
  const auto written = store.change([&](ExclusionList list) {
    for (const auto& [subject, exclusion] : still_on) {
      const auto known = list.find(subject);
      if (known == list.end() || known->second.until < exclusion.until) list[subject] = exclusion;
    }
    return Result<ExclusionList>(std::move(list));
  });
  if (!written) return std::unexpected(written.error());
  return std::to_string(still_on.size()) + " exclusions of " + path +
         " are in force; what is over was left out\n";
}

}  // namespace gpuward::remediator
