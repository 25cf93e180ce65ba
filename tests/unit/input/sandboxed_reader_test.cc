// Reads archives in a separate process, which may end, hang or send wrong messages.
#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "input/archive/worker.h"
#include "input/byte_source.h"
#include "packed.h"

namespace whyoom {
namespace TEST_FILE {

using worker::Kind;
using worker::Message;
using worker::Received;

constexpr std::size_t kMemory = std::size_t{1} << 27;
const Stop kNoLimits;

std::string FileOf(const WorkerProcess& process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process.pid()) + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns "name: text" of each piece, then the problems.
std::string All(const std::string& bytes, bool sandbox) {
  Limits limits;
  limits.sandbox = sandbox;
  const ReadBack read = Unpack(bytes, limits, 1000);
  std::string all;
  for (const std::string& line : Lines(read)) all += line + "\n";
  for (const std::string& problem : read.problems) all += "! " + problem + "\n";
  return all;
}

// A worker that has sent the messages of `say`. It has ended, unless `continues` is set.
struct Hostile {
  explicit Hostile(const std::function<void(worker::Channel& channel)>& say, bool continues = false) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    other = std::make_unique<worker::Channel>(Descriptor(ends[1]));
    say(*other);
    if (!continues) shutdown(ends[1], SHUT_WR);  // messages to it are still accepted
    process = std::make_unique<WorkerProcess>(-1, Descriptor(ends[0]), kMemory);
  }

  // Returns "name: text" of the members, then the problem.
  std::string Read() {
    const std::unique_ptr<ByteSource> source = OpenMemory("any");
    SandboxedReader client(std::move(process), *source, Packing::kTar, kNoLimits);
    std::string shown;
    std::string name;
    for (int members = 0; members < 10 && client.Next(&name); ++members) {
      shown += name.substr(0, 10) + ":";
      char bytes[7];
      while (const std::size_t got = client.Read(bytes, sizeof(bytes))) {
        REQUIRE(got <= sizeof(bytes));
        if (shown.size() < 1000) shown.append(bytes, got);
      }
      if (!client.problem().empty()) shown += " (" + std::string(client.problem()) + ")";
      shown += ";";
    }
    return shown + std::string(client.archive_problem());
  }

  std::unique_ptr<worker::Channel> other;
  std::unique_ptr<WorkerProcess> process;
};

TEST_CASE("a process that reads archives can access nothing else", "[input]") {
  setenv("WHYOOM_TEST_SECRET", "secret", 1);
  std::string why_not;
  const std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory, &why_not);
  unsetenv("WHYOOM_TEST_SECRET");
  INFO(why_not);
  REQUIRE(process);
  CHECK(FileOf(*process, "environ").find("secret") == std::string::npos);
  if (kSanitized) return;
  std::string open;
  DIR* const folder = opendir(("/proc/" + std::to_string(process->pid()) + "/fd").c_str());
  REQUIRE(folder != nullptr);
  while (const dirent* entry = readdir(folder)) open += entry->d_name[0] == '.' ? "" : std::string(entry->d_name) + " ";
  closedir(folder);
  CHECK(open == "0 ");  // the socket
  const std::string limits = FileOf(*process, "limits");
  CHECK(limits.find("Max open files            0                    0") != std::string::npos);
  CHECK(limits.find("Max address space         unlimited") == std::string::npos);
  const std::string status = FileOf(*process, "status");
  CHECK(status.find("NoNewPrivs:\t1\n") != std::string::npos);
  CHECK(status.find("Seccomp:\t2\n") != std::string::npos);
}

TEST_CASE("a worker serves one archive after another, and a killed one is replaced", "[input]") {
  std::string why_not;
  constexpr std::size_t kOwnMemory = kMemory + 1;  // no other test uses this worker
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kOwnMemory, &why_not);
  REQUIRE(process);
  const pid_t pid = process->pid();
  WorkerProcess::PutBack(std::move(process));
  process = WorkerProcess::Get(kOwnMemory, &why_not);
  REQUIRE(process);
  CHECK(process->pid() == pid);
  kill(pid, SIGKILL);
  char nothing;
  CHECK(recv(process->channel().socket(), &nothing, 1, 0) == 0);
  WorkerProcess::PutBack(std::move(process));
  process = WorkerProcess::Get(kOwnMemory, &why_not);
  REQUIRE(process);
  CHECK(process->pid() != pid);
}

TEST_CASE("the end of a worker is reported, after the members before it", "[input]") {
  std::string why_not;
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 2, &why_not);
  REQUIRE(process);
  const pid_t pid = process->pid();
  const std::string tar = Archive("ustar", {{"a", "first"}, {"b", std::string(8 << 20, 'x')}, {"c", "third"}});
  const std::unique_ptr<ByteSource> source = OpenMemory(tar);
  SandboxedReader client(std::move(process), *source, Packing::kTar, kNoLimits);
  std::string name;
  REQUIRE(client.Next(&name));
  std::string bytes(100, '\0');
  CHECK(client.Read(bytes.data(), bytes.size()) == 5);
  REQUIRE(client.Next(&name));
  REQUIRE(client.Read(bytes.data(), 1) == 1);
  kill(pid, SIGKILL);
  std::vector<char> rest(1 << 20);
  while (client.Read(rest.data(), rest.size()) > 0) {
  }
  CHECK(client.problem() == "the process that unpacks its tar data ended early (signal 9); the rest was not read");
  CHECK_FALSE(client.Next(&name));
  CHECK(client.archive_problem().empty());  // reported once
}

TEST_CASE("a stop while the worker hangs is reported", "[input]") {
  std::string why_not;
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 3, &why_not);
  REQUIRE(process);
  kill(process->pid(), SIGSTOP);
  const std::string tar = Archive("ustar", {{"a", "first"}});
  const std::unique_ptr<ByteSource> source = OpenMemory(tar);
  Limits limits;
  limits.seconds = 0.3;
  const Stop stop(nullptr, limits);
  SandboxedReader client(std::move(process), *source, Packing::kTar, stop);
  std::string name;
  CHECK_FALSE(client.Next(&name));
  CHECK(client.archive_problem() == stop.Problem());
}

TEST_CASE("a worker reads what this process would read", "[input]") {
  std::mt19937 random(7);
  const std::vector<PackedFile> files = {{"a", "first\n"},
                                         {"b/", ""},
                                         {"b/c\xC3\xA9", std::string(300'000, 'c')},
                                         {"d", std::string(70'000, 'd') + "end"}};
  for (const std::string format : {"ustar", "pax", "zip"}) {
    const std::string whole = Archive(format, files);
    CHECK((All(whole, true) == All(whole, false)));
    for (int i = 0; i < 40; ++i) {
      std::string damaged = whole.substr(0, i % 2 == 0 ? whole.size() : random() % whole.size());
      for (int flips = 0; flips < 3 && !damaged.empty(); ++flips) {
        // Half of them in the first header.
        const std::size_t at =
            random() % (flips % 2 == 0 ? damaged.size() : std::min<std::size_t>(damaged.size(), 600));
        damaged[at] = static_cast<char>(random());
      }
      INFO(format << " " << i);
      CHECK((All(damaged, true) == All(damaged, false)));
    }
  }
}

TEST_CASE("no message of a compromised worker does harm", "[input]") {
  const std::string ended = "the process that unpacks its tar data ended early; the rest was not read";
  const std::string long_name(worker::Channel::kMostBytes, 'n');
  // Unknown kinds, kinds that only whyoom sends, an empty message, and one that is too long.
  for (const char kind : {'\0', 'z', 'B', 'I', 'R', 'D', 'E'})
    CHECK(Hostile([&](worker::Channel& to) { REQUIRE(to.Send(static_cast<Kind>(kind), "text")); }).Read() == ended);
  CHECK(Hostile([&](worker::Channel& to) { REQUIRE(send(to.socket(), "", 0, 0) == 0); }).Read() == ended);
  CHECK(Hostile([&](worker::Channel& to) { REQUIRE(to.Send(Kind::kMember, long_name + "n")); }).Read() == ended);
  // A member without an end, and a long problem.
  CHECK(Hostile([&](worker::Channel& to) {
          REQUIRE(to.Send(Kind::kMember, "a"));
          REQUIRE(to.Send(Kind::kData, "xy"));
          REQUIRE(to.Send(Kind::kData, ""));
          REQUIRE(to.Send(Kind::kMember, "b"));
        }).Read() == "a:xy (" + ended + ");");
  CHECK(Hostile([&](worker::Channel& to) { REQUIRE(to.Send(Kind::kEnd, long_name)); }).Read().size() == 1000);
}

TEST_CASE("a worker that requests input endlessly is ended, and so is one that reads no answers", "[input]") {
  for (const bool continues : {false, true}) {
    Hostile hostile(
        [](worker::Channel& to) {
          while (to.Send(Kind::kNeed, "")) {
          }
        },
        continues);
    CHECK(hostile.Read().find("ended early") != std::string::npos);
  }
}

TEST_CASE("a worker without progress is ended by the client's clock", "[input]") {
  const auto ends = [](std::unique_ptr<WorkerProcess> process) {
    const pid_t pid = process->pid();
    const std::string tar = Archive("ustar", {{"a", "text"}});
    const std::unique_ptr<ByteSource> source = OpenMemory(tar);
    SandboxedReader client(std::move(process), *source, Packing::kTar, kNoLimits, std::chrono::milliseconds(300));
    std::string name;
    while (client.Next(&name)) {
    }
    CHECK(client.archive_problem() ==
          "unpacking its tar data stopped because one step takes more than 0.3 s; the rest was not read");
    CHECK(client.may_differ());
    if (pid > 0) CHECK(kill(pid, 0) != 0);  // it has ended
  };
  std::string why_not;
  std::unique_ptr<WorkerProcess> stopped = WorkerProcess::Get(kMemory + 8, &why_not);
  REQUIRE(stopped);
  kill(stopped->pid(), SIGSTOP);
  ends(std::move(stopped));
}

TEST_CASE("an idle worker ends with the thread that used it", "[input]") {
  pid_t pid = -1;
  std::thread([&] {
    std::string why_not;
    std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory, &why_not);
    if (!process) return;
    pid = process->pid();
    WorkerProcess::PutBack(std::move(process));
  }).join();
  REQUIRE(pid > 0);
  CHECK(kill(pid, 0) != 0);
}

TEST_CASE("if a worker ends early, another run may give another result", "[input]") {
  const auto ended = [](int signal) {
    std::string why_not;
    std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 7, &why_not);
    REQUIRE(process);
    kill(process->pid(), signal);
    const std::string tar = Archive("ustar", {{"a", "text"}});
    const std::unique_ptr<ByteSource> source = OpenMemory(tar);
    SandboxedReader client(std::move(process), *source, Packing::kTar, kNoLimits);
    std::string name;
    CHECK_FALSE(client.Next(&name));
    CHECK_FALSE(client.archive_problem().empty());
    return client.may_differ();
  };
  CHECK(ended(SIGKILL));
  CHECK(ended(SIGPROF));  // only the client's clock shows that the input itself takes too long
}

TEST_CASE("a time limit while members are skipped is reported", "[input]") {
  std::string why_not;
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(kMemory + 4, &why_not);
  REQUIRE(process);
  const std::string tar = Archive("ustar", {{"a", std::string(16 << 20, 'x')}, {"b", "second"}});
  const std::unique_ptr<ByteSource> source = OpenMemory(tar);
  Limits limits;
  limits.seconds = 0.5;
  const Stop stop(nullptr, limits);
  SandboxedReader client(std::move(process), *source, Packing::kTar, stop);
  std::string name;
  REQUIRE(client.Next(&name));
  char first;
  REQUIRE(client.Read(&first, 1) == 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK_FALSE(client.Next(&name));
  CHECK(client.archive_problem() == stop.Problem());
}

TEST_CASE("whatever messages a worker sends, reading ends", "[input]") {
  std::mt19937 random(11);
  constexpr std::string_view kKinds = "NMODEX?";
  for (int run = 0; run < 300; ++run) {
    Hostile hostile([&](worker::Channel& to) {
      for (int messages = 0; messages < 10; ++messages)
        to.Send(static_cast<Kind>(kKinds[random() % kKinds.size()]),
                std::string(random() % 50, static_cast<char>(random() % 2)));
    });
    CHECK(hostile.Read().size() < 10'000);
  }
}

}  // namespace TEST_FILE

}  // namespace whyoom
