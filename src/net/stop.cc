#include "net/stop.h"

#include "base/check.h"

namespace assay::net {

namespace detail {

struct StopState {
  StopReason reason = StopReason::None;
  StopCallback* first = nullptr;
  StopCallback* last = nullptr;

  void stop(StopReason why) {
    ASSAY_CHECK(why != StopReason::None, "a stop needs a reason");
    if (reason != StopReason::None) return;
    reason = why;
    // One at a time from the front: an action may destroy callbacks, its own included.
    while (first != nullptr) {
      StopCallback& current = *first;
      const auto action = std::move(current.action_);
      current.unlink();
      action();
    }
  }
};

}  // namespace detail

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::None:
      return "none";
    case StopReason::Shutdown:
      return "shutdown";
    case StopReason::Interrupted:
      return "interrupted";
    case StopReason::Superseded:
      return "superseded";
    case StopReason::LeaseLost:
      return "lease lost";
    case StopReason::DeadlinePassed:
      return "deadline passed";
    case StopReason::PeerClosed:
      return "peer closed";
    case StopReason::SlowPeer:
      return "slow peer";
    case StopReason::ProtocolViolation:
      return "protocol violation";
  }
  return "unknown";
}

StopReason StopToken::reason() const { return state_ ? state_->reason : StopReason::None; }

StopCallback::StopCallback(const StopToken& token, std::function<void()> action) {
  if (token.stopped()) {
    action();
    return;
  }
  if (!token.state_) return;
  state_ = token.state_;
  action_ = std::move(action);
  previous_ = state_->last;
  (previous_ != nullptr ? previous_->next_ : state_->first) = this;
  state_->last = this;
}

StopCallback::~StopCallback() {
  if (state_) unlink();
}

void StopCallback::unlink() {
  (previous_ != nullptr ? previous_->next_ : state_->first) = next_;
  (next_ != nullptr ? next_->previous_ : state_->last) = previous_;
  previous_ = next_ = nullptr;
  state_ = nullptr;
}

StopSource::StopSource() : state_(std::make_shared<detail::StopState>()) {}

StopSource::StopSource(const StopToken& parent) : StopSource() {
  if (!parent.can_stop()) return;
  parent_ = std::make_unique<StopCallback>(parent, [state = std::weak_ptr(state_), parent] {
    if (auto alive = state.lock()) alive->stop(parent.reason());
  });
}

void StopSource::stop(StopReason reason) {
  const auto state = state_;  // an action may destroy this source
  state->stop(reason);
}

}  // namespace assay::net
