// Peer of scrape_bench: prometheus-cpp's own Exposer with a Registry of the same families and
// series, read from the exporter's text, as a program in the usual style would have them.
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace {

using Labels = std::map<std::string, std::string>;

// `a="b",c="d"`: the labels of the exporter's text, whose values have no escapes here.
Labels parse_labels(const std::string& text) {
  Labels labels;
  for (std::size_t at = 0; at < text.size();) {
    const auto equals = text.find("=\"", at);
    const auto end = text.find('"', equals + 2);
    labels[text.substr(at, equals - at)] = text.substr(equals + 2, end - equals - 2);
    at = end + 2;
  }
  return labels;
}

class Loader {
 public:
  explicit Loader(prometheus::Registry& registry) : registry_(registry) {}

  void take(const std::string& line) {
    if (line.starts_with("# HELP ")) {
      help_ = line.substr(line.find(' ', 7) + 1);
    } else if (line.starts_with("# TYPE ")) {
      begin_family(line.substr(7, line.find(' ', 7) - 7), line.ends_with(" counter"));
    } else if (!line.empty()) {
      add_sample(line);
    }
  }

 private:
  void begin_family(const std::string& name, bool is_counter) {
    counters_ = nullptr;
    gauges_ = nullptr;
    if (is_counter) {
      counters_ = &prometheus::BuildCounter().Name(name).Help(help_).Register(registry_);
    } else {
      gauges_ = &prometheus::BuildGauge().Name(name).Help(help_).Register(registry_);
    }
  }
  void add_sample(const std::string& line) {
    const auto brace = line.find('{');
    const auto end = line.rfind('}');
    const bool has_labels = brace != std::string::npos && end != std::string::npos;
    const Labels labels =
        has_labels ? parse_labels(line.substr(brace + 1, end - brace - 1)) : Labels{};
    const double value = std::strtod(line.c_str() + line.rfind(' '), nullptr);
    if (counters_ != nullptr) counters_->Add(labels).Increment(value);
    if (gauges_ != nullptr) gauges_->Add(labels).Set(value);
  }

  prometheus::Registry& registry_;
  std::string help_;
  prometheus::Family<prometheus::Counter>* counters_ = nullptr;
  prometheus::Family<prometheus::Gauge>* gauges_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto registry = std::make_shared<prometheus::Registry>();
  Loader loader(*registry);
  std::ifstream file(argv[1]);
  for (std::string line; std::getline(file, line);) loader.take(line);
  // By default it closes the connection after each answer; kept connections make it faster, and the
  // comparison fair.
  prometheus::Exposer exposer({"listening_ports", "127.0.0.1:0", "num_threads", "16",
                               "enable_keep_alive", "yes", "tcp_nodelay", "1"});
  exposer.RegisterCollectable(registry);
  std::cout << "port=" << exposer.GetListeningPorts().at(0) << std::endl;
  ::pause();
  return 0;
}
