// A file descriptor that is closed with the object; -1: none.
#pragma once

#include <unistd.h>

#include <utility>

namespace whyoom {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void Close() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  // From now on it is the caller's.
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace whyoom
