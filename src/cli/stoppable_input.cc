#include "cli/stoppable_input.h"

#include <poll.h>
#include <unistd.h>

#include <utility>

namespace whyoom {
namespace {

// How long an interrupt may have to wait.
constexpr int kMilliseconds = 100;

class StoppableSource : public ByteSource {
 public:
  StoppableSource(std::unique_ptr<ByteSource> source, const ReadControl& control)
      : source_(std::move(source)), control_(control) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (!control_.stopped() && poll(&input, 1, kMilliseconds) <= 0) {
    }
    return control_.stopped() ? 0 : source_->Read(buffer, capacity);
  }

  std::string_view problem() const override { return source_->problem(); }

 private:
  const std::unique_ptr<ByteSource> source_;
  const ReadControl& control_;
};

}  // namespace

std::unique_ptr<ByteSource> OpenStoppableInput(const ReadControl& control) {
  return std::make_unique<StoppableSource>(OpenStandardInput(), control);
}

}  // namespace whyoom
