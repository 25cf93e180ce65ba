// What another user may put beside a state is not used.
#include "cli/state_files.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "catch.h"
#include "process.h"

using namespace whyoom;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace TEST_FILE {

constexpr uid_t kNobody = 65534;

std::string BigEndian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

// One that SQLite takes for what a killed run left, and that names a file to be removed when all is undone.
std::string HotJournal(const std::string& removes) {
  constexpr std::uint32_t kPage = 4096;
  constexpr std::string_view kMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::uint32_t sum = 0;
  for (const char c : removes) sum += static_cast<unsigned char>(c);
  std::string journal =
      std::string(kMagic) + BigEndian(0) + BigEndian(0) + BigEndian(5) + BigEndian(512) + BigEndian(kPage);
  journal.resize(512, '\0');
  return journal + BigEndian(0x40000000 / kPage + 1) + removes + BigEndian(static_cast<std::uint32_t>(removes.size())) +
         BigEndian(sum) + std::string(kMagic);
}

struct Shared {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("a.log", "all is well\n");
  const std::string state = scratch.path() + "/state";
  const std::string victim = scratch.Write("victim", "kept");

  ProcessResult Run() const { return RunWhyoom({"--resume", state, log}); }
};

TEST_CASE("the file that a foreign journal names stays", "[cli]") {
  const Shared shared;
  REQUIRE(shared.Run().exit_status == 0);
  // Even where the journal is this user's own.
  shared.scratch.Write("state-journal", HotJournal(shared.victim));
  CHECK(shared.Run().exit_status == 0);
  CHECK(ReadText(shared.victim) == "kept");
  CHECK_FALSE(fs::exists(shared.state + "-journal"));
}

TEST_CASE("a state or what lies beside it that is no file of one's own is refused", "[cli]") {
  const Shared shared;
  REQUIRE(shared.Run().exit_status == 0);
  const std::string before = ReadText(shared.state);
  for (const std::string ending : {"-journal", "-wal", "-shm", ""}) {
    const std::string path = shared.state + ending;
    const auto refuse = [&](const std::string& why) {
      const ProcessResult result = shared.Run();
      INFO(result.err);
      CHECK(result.exit_status == 2);
      CHECK(result.out.empty());
      CHECK(result.err.find(why) != std::string::npos);
      fs::remove(path);
    };
    INFO(ending);
    if (ending.empty()) fs::rename(path, shared.state + "-away");
    REQUIRE(mkfifo(path.c_str(), 0666) == 0);
    refuse(ending.empty() ? "it is no state of whyoom" : "state" + ending + " is no file; remove it");
    fs::create_directory(path);
    refuse(ending.empty() ? "it is no state of whyoom" : "state" + ending + " is no file; remove it");
    fs::create_symlink(shared.victim, path);
    refuse("is a link, which is not followed");
    fs::create_symlink(shared.scratch.path() + "/made", path);
    refuse("is a link, which is not followed");
    fs::create_hard_link(shared.victim, path);
    refuse("has a second name");
    if (geteuid() != 0) continue;
    std::ofstream(path) << (ending == "-journal" ? HotJournal(shared.victim) : "");
    REQUIRE(chown(path.c_str(), kNobody, kNobody) == 0);
    refuse("belongs to another user (number 65534)");
  }
  CHECK_FALSE(fs::exists(shared.scratch.path() + "/made"));
  CHECK(ReadText(shared.victim) == "kept");
  CHECK(ReadText(shared.state + "-away") == before);
}

TEST_CASE("what is put beside a state while a run begins is not used either", "[cli]") {
  const Shared shared;
  REQUIRE(shared.Run().exit_status == 0);
  std::atomic<bool> done = false;
  const std::string journal = shared.state + "-journal";
  std::thread other([&] {
    for (int i = 0; !done; ++i) {
      std::error_code ignored;
      fs::remove(journal, ignored);
      if (i % 3 == 0) mkfifo(journal.c_str(), 0666);
      if (i % 3 == 1) fs::create_symlink(shared.scratch.path() + "/made", journal, ignored);
      if (i % 3 == 2) fs::create_hard_link(shared.victim, journal, ignored);
    }
  });
  for (int i = 0; i < 40; ++i) {
    const int status = shared.Run().exit_status;
    CHECK((status == 0 || status == 2 || status == 3));  // 3: what was read could not be kept
  }
  done = true;
  other.join();
  CHECK_FALSE(fs::exists(shared.scratch.path() + "/made"));
  CHECK(ReadText(shared.victim) == "kept");
}

TEST_CASE("a state that is to have a -wal is none of whyoom's", "[cli]") {
  const Shared shared;
  REQUIRE(shared.Run().exit_status == 0);
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(shared.state.c_str(), &opened) == SQLITE_OK);
  REQUIRE(sqlite3_exec(opened, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_close(opened) == SQLITE_OK);
  const ProcessResult result = shared.Run();
  CHECK(result.exit_status == 2);
  CHECK(result.err.find("no state of whyoom") != std::string::npos);
}

TEST_CASE("SQLite's own program and whyoom keep out of each other's way", "[cli]") {
  const Shared shared;
  REQUIRE(shared.Run().exit_status == 0);
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(shared.state.c_str(), &opened) == SQLITE_OK);
  REQUIRE(sqlite3_exec(opened, "BEGIN; SELECT * FROM inputs", nullptr, nullptr, nullptr) == SQLITE_OK);
  CHECK(shared.Run().err.find("another whyoom uses it") != std::string::npos);
  REQUIRE(sqlite3_close(opened) == SQLITE_OK);
  CHECK(shared.Run().exit_status == 0);
}

TEST_CASE("names that SQLite takes for something else are files", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", "all is well\n");
  for (const char* name : {":memory:", "file:x?vfs=unix", "-state"}) {
    CHECK(RunWhyoom({std::string("--resume=") + name, "a.log"}, "", scratch.path()).exit_status == 0);
    CHECK(fs::file_size(scratch.path() + "/" + name) > 0);
  }
}

}  // namespace TEST_FILE
