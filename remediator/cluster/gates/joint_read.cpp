#include "remediator/cluster/gates/joint_read.h"

#include <exception>

namespace gpuward::remediator {
namespace {

// A read that throws must not leave the others waiting.
Status read_safely(const JointRead::Read& read) try {
  return read();
} catch (const std::exception& thrown) {
  return fail(ErrorKind::kInternal,
              std::string("a read failed with an exception: ") + thrown.what());
}

}  // namespace

Status JointRead::ask(const Read& read) {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = begun_ + 1;  // has not begun yet; a later one is as good
  ++waiting_;
  read_ended_.wait(lock, [&] { return ended_ >= wanted || begun_ == ended_; });
  --waiting_;
  if (ended_ >= wanted) return answer_;
  ++begun_;
  lock.unlock();
  Status answer = read_safely(read);
  lock.lock();
  answer_ = answer;
  ended_ = begun_;
  lock.unlock();
  read_ended_.notify_all();
  return answer;
}

std::size_t JointRead::waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

Status JointReads::ask(const std::string& key, const JointRead::Read& read) {
  std::shared_ptr<JointRead> question;
  {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<JointRead>& known = questions_[key];
    question = known.lock();
    if (!question) known = question = std::make_shared<JointRead>();
  }
  Status answer = question->ask(read);
  question.reset();
  const std::lock_guard lock(mutex_);
  if (const auto known = questions_.find(key); known != questions_.end() && known->second.expired())
    questions_.erase(known);
  return answer;
}

std::size_t JointReads::remembered() {
  const std::lock_guard lock(mutex_);
  return questions_.size();
}

}  // namespace gpuward::remediator
