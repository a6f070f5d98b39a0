#include "tests/fakes/kube/failure.h"

#include <utility>

namespace gpuward::fakes {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// "remediations.gpuward.dev", "nodes"
std::string qualified(const std::string& name, const std::string& group) {
  return group.empty() ? name : name + "." + group;
}

Json details_of(const About& about, const std::string& kind, std::string_view name) {
  Json details = {{"kind", kind}};
  if (!name.empty()) details["name"] = std::string(name);
  if (!about.group.empty()) details["group"] = about.group;
  return details;
}

}  // namespace

std::unexpected<Failure> bad_request(std::string message) {
  return std::unexpected(Failure{400, "BadRequest", std::move(message), nullptr});
}

std::unexpected<Failure> not_found(const About& about, std::string_view name) {
  return std::unexpected(Failure{
      404, "NotFound", qualified(about.plural, about.group) + " " + quoted(name) + " not found",
      details_of(about, about.plural, name)});
}

std::unexpected<Failure> no_such_path() {
  return std::unexpected(
      Failure{404, "NotFound", "the server could not find the requested resource", Json::object()});
}

std::unexpected<Failure> no_such_page() {
  return std::unexpected(Failure{404, "NotFound", "404 page not found\n", nullptr});
}

std::unexpected<Failure> method_not_allowed() {
  return std::unexpected(Failure{405, "MethodNotAllowed",
                                 "the server does not allow this method on the requested resource",
                                 Json::object()});
}

std::unexpected<Failure> already_exists(const About& about, std::string_view name) {
  return std::unexpected(
      Failure{409, "AlreadyExists",
              qualified(about.plural, about.group) + " " + quoted(name) + " already exists",
              details_of(about, about.plural, name)});
}

std::unexpected<Failure> conflict(const About& about, std::string_view name, std::string_view why) {
  return std::unexpected(Failure{409, "Conflict",
                                 "Operation cannot be fulfilled on " +
                                     qualified(about.plural, about.group) + " " + quoted(name) +
                                     ": " + std::string(why),
                                 details_of(about, about.plural, name)});
}

std::unexpected<Failure> precondition_failed(const About& about, std::string_view name,
                                             const std::string& why) {
  return conflict({about.group, about.kind, about.kind}, name, why);
}

std::unexpected<Failure> modified(const About& about, std::string_view name) {
  return conflict(about, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

std::unexpected<Failure> invalid(const About& about, std::string_view name,
                                 const std::vector<Cause>& causes) {
  std::string list;
  Json details = details_of(about, about.kind, name);
  details["causes"] = Json::array();
  for (const Cause& cause : causes) {
    list += (list.empty() ? "" : ", ") + cause.field + ": " + cause.message;
    details["causes"].push_back(
        {{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
  }
  if (causes.size() > 1) list = "[" + list + "]";
  return std::unexpected(
      Failure{422, "Invalid",
              qualified(about.kind, about.group) + " " + quoted(name) + " is invalid: " + list,
              std::move(details)});
}

std::unexpected<Failure> unauthorized() {
  return std::unexpected(Failure{401, "Unauthorized", "Unauthorized", nullptr});
}

std::unexpected<Failure> unsupported_media_type(std::string_view accepted) {
  return std::unexpected(
      Failure{415, "UnsupportedMediaType",
              "the body of the request was in an unknown format - accepted media "
              "types include: " +
                  std::string(accepted),
              Json::object()});
}

Failure expired(std::string message) { return {410, "Expired", std::move(message), nullptr}; }

Json to_status(const Failure& failure) {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"},         {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", failure.message}, {"code", failure.code}};
  if (!failure.reason.empty()) status["reason"] = failure.reason;
  if (!failure.details.is_null()) status["details"] = failure.details;
  return status;
}

}  // namespace gpuward::fakes
