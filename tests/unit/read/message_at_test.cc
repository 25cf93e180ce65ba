// Extracts the message at a line.
#include "read/message_at.h"

#include <string>

#include "built_in_rules.h"
#include "catch.h"
#include "read/engine.h"

using namespace whyoom;

namespace TEST_FILE {

// Returns "2: a | b": the line where the message begins, and its lines.
std::string At(const std::string& log, std::uint64_t first, std::uint64_t last = 0) {
  static const Engine engine(BuiltInRules());
  const MessageAt message = ReadMessageAt(engine, *OpenMemory(log), {first, last});
  std::string shown = std::to_string(message.first) + ":";
  for (const std::string& line : message.lines) shown += (&line == &message.lines.front() ? " " : " | ") + line;
  return shown;
}

const std::string kLog =
    "starting\n"
    "the pool cannot give what is asked for:\n"
    "wanted 3 of 2,\r\n"
    "  see the log\n"
    "done\n"
    "\n"
    "the end\n";

TEST_CASE("a message continues while its lines are open or indented", "[read]") {
  CHECK(At(kLog, 1) == "1: starting");
  CHECK(At(kLog, 2) == "2: the pool cannot give what is asked for: | wanted 3 of 2, |   see the log");
  CHECK(At(kLog, 3) == "3: wanted 3 of 2, |   see the log");
  CHECK(At(kLog, 4) == "4:   see the log");
  CHECK(At(kLog, 5) == "5: done");
}

TEST_CASE("the lines of a range are the message", "[read]") {
  CHECK(At(kLog, 1, 2) == "1: starting | the pool cannot give what is asked for:");
  CHECK(At(kLog, 5, 7) == "5: done | the end");
  CHECK(At(kLog, 3, 3) == "3: wanted 3 of 2,");
}

TEST_CASE("a blank or missing line has no message", "[read]") {
  CHECK(At(kLog, 6) == "6:");
  CHECK(At(kLog, 99) == "99:");
  static const Engine engine(BuiltInRules());
  CHECK(ReadMessageAt(engine, *OpenMemory(kLog), {99, 0}).last_read == 7);
}

TEST_CASE("a wrapped sentence continues in lower case", "[read]") {
  const std::string wide(55, 'w');
  CHECK(At(wide + " then\nit goes on\n", 1) == "1: " + wide + " then | it goes on");  // 60 characters
  CHECK(At(wide + " the\nit goes on\n", 1) == "1: " + wide + " the");
  CHECK(At(wide + " then\nIt is another\n", 1) == "1: " + wide + " then");
  CHECK(At(wide + " then\n12 of them\n", 1) == "1: " + wide + " then | 12 of them");
  CHECK(At(std::string(60, 'w') + "\n12 of them\n", 1) == "1: " + std::string(60, 'w'));  // a single word
  CHECK(At(wide + " end.\nit is another\n", 1) == "1: " + wide + " end.");
}

TEST_CASE("in a traceback the message is the exception", "[read]") {
  CHECK(At("all well\n"
           "Traceback (most recent call last):\n"
           "  File \"job.py\", line 3, in <module>\n"
           "    run()\n"
           "    ^^^^^\n"
           "RuntimeError: the pool is empty\n"
           "bye\n",
           2) == "6: RuntimeError: the pool is empty");
}

TEST_CASE("a message is limited in lines and bytes", "[read]") {
  std::string many;
  for (int i = 0; i < 60; ++i) many += "and,\n";
  const auto lines = [&](std::uint64_t last) {
    static const Engine engine(BuiltInRules());
    return ReadMessageAt(engine, *OpenMemory(many), {1, last}).lines.size();
  };
  CHECK(lines(0) == 12);
  CHECK(lines(30) == 30);
  CHECK(lines(60) == 40);
  // If a line is too long, the message is the part from an exception name up to a blank.
  const std::string shown = At(
      std::string(6000, 'x') + " PoolError: it is " + std::string(3000, 'y') + " " + std::string(3000, 'z') + "\n", 1);
  CHECK(shown == "1: PoolError: it is " + std::string(3000, 'y'));
}

}  // namespace TEST_FILE
