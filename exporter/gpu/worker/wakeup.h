// Wakes a thread that polls descriptors, from any other thread. Used by WorkerSource for a stop and
// for hurry().
#pragma once

namespace gpuward::exporter {

class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }  // readable after signal()
  void signal() const;                                          // any thread
  void clear() const;                                           // the thread that polls

 private:
  int descriptor_;
};

}  // namespace gpuward::exporter
