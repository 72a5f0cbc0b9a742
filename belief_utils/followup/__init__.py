"""The follow-up paper (arXiv:2310.02174): does a model stay with a right answer when it is questioned?"""
