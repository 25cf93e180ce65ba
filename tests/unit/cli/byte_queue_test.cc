// Bytes from one thread to another.
#include "cli/byte_queue.h"

#include <string>
#include <thread>

#include "catch.h"
#include "read_all.h"

using namespace whyoom;

TEST_CASE("bytes come in their order, up to the end", "[cli]") {
  ByteQueue queue;
  queue.Push("one ");
  queue.Push("two");
  queue.Close();
  CHECK(ReadAll(queue, 3) == "one two");
  CHECK(ReadAll(queue).empty());
}

TEST_CASE("a full queue waits for its reader, and drops where there is none any more", "[cli]") {
  ByteQueue queue;
  const std::string some(std::size_t{3} << 20, 'x');
  std::thread writer([&] {
    for (int i = 0; i < 4; ++i) queue.Push(some);
    queue.Close();
  });
  CHECK(ReadAll(queue, std::size_t{1} << 20).size() == 4 * some.size());
  writer.join();
  ByteQueue abandoned;
  abandoned.Abandon();
  for (int i = 0; i < 4; ++i) abandoned.Push(some);
  abandoned.Close();
  CHECK(ReadAll(abandoned).empty());
}
