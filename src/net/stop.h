#pragma once
// Cooperative cancellation: one side owns a StopSource and asks with a reason; tasks hold StopTokens, test them, and
// hand them to every wait (`event.wait(deadline, token)`, `http.open(request, token)`), which then returns at once.
// Asking is not ending: whoever asks also joins (TaskGroup::join).
//
// Only on the loop thread; Loop::post brings a request to stop from elsewhere.
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace assay::net {

enum class StopReason : std::uint8_t {
  None,               // nobody asked
  Shutdown,           // the process or the service ends
  Interrupted,        // a user asked
  Superseded,         // the state that the work was for has moved on
  LeaseLost,          // another owner may be at work
  DeadlinePassed,     // the time for the work is over
  PeerClosed,         // the other side of the connection has left
  SlowPeer,           // the other side did not take its bytes in time
  ProtocolViolation,  // the other side broke the protocol
};

std::string_view to_string(StopReason reason);

namespace detail {
struct StopState;
}

// Cheap to copy; outlives its source. A default token is never stopped.
class StopToken {
 public:
  StopToken() {}
  [[nodiscard]] bool stopped() const { return reason() != StopReason::None; }
  [[nodiscard]] StopReason reason() const;
  [[nodiscard]] bool can_stop() const { return state_ != nullptr; }

 private:
  friend class StopSource;
  friend class StopCallback;
  explicit StopToken(std::shared_ptr<detail::StopState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::StopState> state_;
};

// Calls `action` once, when the token stops; at once, in the constructor, where it already has. Not called after the
// destructor. The action must not throw; it may destroy any StopCallback, itself included.
class StopCallback {
 public:
  StopCallback(const StopToken& token, std::function<void()> action);
  ~StopCallback();
  StopCallback(const StopCallback&) = delete;
  StopCallback& operator=(const StopCallback&) = delete;

 private:
  friend struct detail::StopState;
  void unlink();

  std::shared_ptr<detail::StopState> state_;  // set while linked into its list
  std::function<void()> action_;
  StopCallback* previous_ = nullptr;
  StopCallback* next_ = nullptr;
};

class StopSource {
 public:
  StopSource();
  // Stops also when `parent` does, with the parent's reason.
  explicit StopSource(const StopToken& parent);

  // The first reason stays; later calls do nothing. Requires: reason is not None.
  void stop(StopReason reason);
  [[nodiscard]] StopToken token() const { return StopToken(state_); }
  [[nodiscard]] bool stopped() const { return token().stopped(); }
  [[nodiscard]] StopReason reason() const { return token().reason(); }

 private:
  std::shared_ptr<detail::StopState> state_;
  std::unique_ptr<StopCallback> parent_;
};

}  // namespace assay::net
