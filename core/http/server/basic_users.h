// Users of basic authentication: `user:hash` lines with hashes as crypt(3) writes them. A password
// is hashed once and then remembered under a keyed digest, so that a scrape every few seconds costs
// no bcrypt. Used by the authenticator.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "core/http/server/hash_queue.h"
#include "core/model/result.h"
#include "core/runtime/digest.h"
#include "core/runtime/files.h"

namespace gpuward::http {

class BasicUsers {
 public:
  using OnProblem = std::function<void(const std::string&)>;

  // Errors name file and line. Refused: hashes that crypt(3) does not know or calls weak.
  [[nodiscard]] static Result<std::unique_ptr<BasicUsers>> load(const std::string& file,
                                                                OnProblem on_problem);

  // Thread-safe. An unknown user costs as much as a wrong password. A password that is remembered
  // waits for no hash; others wait in the queue, or are refused while it is full. A file that has
  // become unreadable or wrong leaves the users as they were, is read again at each call, and is
  // reported to on_problem once.
  [[nodiscard]] PasswordOutcome verify(const std::string& user, const std::string& password,
                                       const std::string& peer);

 private:
  using Users = std::map<std::string, std::string>;

  BasicUsers(const std::string& file, OnProblem on_problem);
  void reload_if_changed();
  [[nodiscard]] static Result<Users> read(const std::string& file);

  const std::string file_;
  const OnProblem on_problem_;
  std::string cache_key_;  // random, never leaves the process
  HashQueue hashes_;       // waited for without the mutex
  std::mutex mutex_;
  FileReload reload_;          // guarded by mutex_
  Users users_;                // guarded by mutex_
  std::set<Digest> verified_;  // guarded by mutex_
};

}  // namespace gpuward::http
