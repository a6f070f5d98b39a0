#include "core/http/server/basic_users.h"

#include <crypt.h>
#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

constexpr std::size_t kMaxRemembered = 256;

std::string random_key() {
  std::string key(32, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size()));
  return key;
}

// crypt_data is 32 KiB, too much for a server's stack. Empty where crypt(3) fails.
std::string crypt_password(const std::string& password, const std::string& setting) {
  const auto scratch = std::make_unique<crypt_data>();
  const char* hash = crypt_r(password.c_str(), setting.c_str(), scratch.get());
  return hash == nullptr || *hash == '*' ? std::string{} : std::string(hash);
}

bool is_right(const std::string& password, const std::string& hash) {
  const std::string computed = crypt_password(password, hash);
  return !computed.empty() && equal_in_constant_time(digest_of(computed), digest_of(hash));
}

Status check_entry(std::string_view user, const std::string& hash) {
  if (user.empty() || hash.empty()) return fail(ErrorKind::kInvalid, "expected user:hash");
  if (crypt_checksalt(hash.c_str()) == CRYPT_SALT_OK) return {};
  return fail(ErrorKind::kInvalid, "the password hash of user " + to_valid_utf8(user, 64) +
                                       " has an unknown format or is weak; create one with "
                                       "`mkpasswd -m bcrypt` or `htpasswd -B`");
}

}  // namespace

BasicUsers::BasicUsers(const std::string& file, OnProblem on_problem)
    : file_(file), on_problem_(std::move(on_problem)), cache_key_(random_key()), reload_({file}) {}

Result<std::unique_ptr<BasicUsers>> BasicUsers::load(const std::string& file,
                                                     OnProblem on_problem) {
  std::unique_ptr<BasicUsers> loaded(new BasicUsers(file, std::move(on_problem)));
  auto users = read(file);
  if (!users) return std::unexpected(users.error());
  loaded->users_ = std::move(*users);
  return loaded;
}

Result<BasicUsers::Users> BasicUsers::read(const std::string& file) {
  const auto content = read_file(file);
  if (!content) return with_context("basic users file", content.error());
  Users users;
  std::string_view rest = *content;
  for (int line = 1; !rest.empty(); ++line) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    const std::string_view entry = trim(text);
    if (entry.empty() || entry.starts_with('#')) continue;
    const auto colon = std::min(entry.find(':'), entry.size());
    const std::string user(entry.substr(0, colon));
    const std::string hash(entry.substr(std::min(colon + 1, entry.size())));
    auto status = check_entry(user, hash);
    if (status && !users.emplace(user, hash).second) {
      status = fail(ErrorKind::kInvalid, "user " + to_valid_utf8(user, 64) + " is listed twice");
    }
    if (!status) {
      return with_context("basic users file " + file + ":" + std::to_string(line), status.error());
    }
  }
  if (users.empty()) {
    return fail(ErrorKind::kInvalid, "basic users file " + file + ": contains no user:hash line");
  }
  return users;
}

PasswordOutcome BasicUsers::verify(const std::string& user, const std::string& password,
                                   const std::string& peer) {
  reload_if_changed();
  std::string hash;
  bool is_known = false;
  Digest remembered;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = users_.find(user);
    is_known = entry != users_.end();
    hash = is_known ? entry->second : users_.begin()->second;
    remembered = keyed_digest_of(cache_key_, user + '\0' + hash + '\0' + password);
    if (is_known && verified_.contains(remembered)) return PasswordOutcome::kRight;
  }
  const PasswordOutcome verdict =
      hashes_.run(peer, [&] { return is_right(password, hash) && is_known; });
  if (verdict != PasswordOutcome::kRight) return verdict;
  const std::lock_guard lock(mutex_);
  const auto entry = users_.find(user);
  if (entry == users_.end() || entry->second != hash) return PasswordOutcome::kWrong;  // changed
  if (verified_.size() >= kMaxRemembered) verified_.clear();
  verified_.insert(remembered);
  return PasswordOutcome::kRight;
}

void BasicUsers::reload_if_changed() {
  Status reloaded;
  {
    const std::lock_guard lock(mutex_);
    reloaded = reload_.reload_if_due([this]() -> Status {
      auto users = read(file_);
      if (!users) return std::unexpected(users.error());
      users_ = std::move(*users);
      verified_.clear();
      return {};
    });
  }
  if (!reloaded && on_problem_) on_problem_(reloaded.error().message);
}

}  // namespace gpuward::http
